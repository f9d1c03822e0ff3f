import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { IDENTITY_FILE } from "../../../../src/agent/paths.ts";
import { createTestCli, type TestCli, type Transcript } from "../../../support/cli.ts";

const PASSWORD = "s3cret%/@ word";

let cli: TestCli;
beforeAll(async () => {
  cli = await createTestCli();
});
afterAll(() => cli.close());

/** Without a database: the mail may be what is wrong. */
const sendTest = (variables: Record<string, string>, address = "ann@example.org"): Promise<Transcript> =>
  cli.run(["mail", "test", address], {
    variables: { UAM_DATA_DIR: cli.dataDir, UAM_DATABASE_URL: "postgres://uam@127.0.0.1:1/uam", ...variables },
  });

describe("uam mail test, to the mail log", () => {
  test("says that nothing was sent, and where the mail is", async () => {
    const file = join(cli.dataDir, "mail.log");
    const { code, stdout, stderr } = await sendTest({});
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(`The test mail to ann@example.org was written to ${file}: nothing was sent.
To send mail, set UAM_SMTP_URL or UAM_RESEND_API_KEY.
`);
    const mail = JSON.parse(readFileSync(file, "utf8"));
    expect(mail).toMatchObject({ to: "ann@example.org", subject: "Test mail from 127.0.0.1" });
    expect(mail.text).toContain("Sent by:     olga");
  });

  test("fails if the log cannot be written, or the address is none", async () => {
    const { code, stdout, stderr } = await sendTest({ UAM_MAIL_LOG: cli.dataDir });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toStartWith("uam: Cannot write the test mail to ann@example.org: The mail log cannot be");
    const wrong = await sendTest({}, "ann@example.org, bob@example.org");
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("uam: The e-mail must be one address")]);
  });

  test("is refused on the host of an agent, which sends no mail", async () => {
    const dataDir = join(cli.dataDir, "agent");
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, IDENTITY_FILE), "{}");
    const { code, stderr } = await sendTest({ UAM_DATA_DIR: dataDir });
    expect([code, stderr]).toEqual([1, expect.stringContaining("uam: This host has an agent")]);
  });
});

describe("uam mail test, by SMTP", () => {
  test("says which server accepted it, and quotes its answer harmlessly", async () => {
    await withServer({ taken: "250 \x1b[31mqueued\x07 as \u202e17" }, async (port) => {
      const { code, stdout, stderr } = await sendTest(smtp(port));
      expect([code, stderr]).toEqual([0, ""]);
      expect(
        stdout,
      ).toBe(`127.0.0.1:${port} accepted the test mail to ann@example.org. Its answer: 250 [31mqueued as \\u202e17
Whether it arrives, only the mailbox shows; look among unwanted mail, too.
`);
    });
  });

  test("quotes a refusal, and exits with 1", async () => {
    await withServer({ recipient: "550 5.1.1 \x1b]0;No such mailbox\x07" }, async (port) => {
      const { code, stdout, stderr } = await sendTest(smtp(port));
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toBe(
        `uam: 127.0.0.1:${port} refused the test mail to ann@example.org: Can't send mail - all recipients were rejected: 550 5.1.1 ]0;No such mailbox\n`,
      );
    });
    await withServer({ recipient: "451 Come back later" }, async (port) => {
      const { code, stderr } = await sendTest(smtp(port));
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining(`127.0.0.1:${port} did not take the test mail to ann@example.org: Can't send mail`),
      ]);
    });
  });

  test("never prints the password, although the server repeats it in every form", async () => {
    const inPlain = Buffer.from(`\0mailer\0${PASSWORD}`).toString("base64");
    const forms = [PASSWORD, Buffer.from(PASSWORD).toString("base64"), inPlain];
    // The answer is cut within the password, behind what is said before the answer to the login, the recipient or the mail.
    const cut = [275, 240, 290].map((length) => `${"x".repeat(length)}${PASSWORD}`);
    const answers = [...forms.map((form) => `no ${form} here`), ...cut];
    for (const answer of answers) {
      for (const script of [{ login: `535 ${answer}` }, { recipient: `550 ${answer}` }, { taken: `250 ${answer}` }]) {
        await withServer(script, async (port) => {
          const { stdout, stderr } = await sendTest(smtp(port));
          const printed = stdout + stderr;
          expect(printed).toMatch(/\d\d\d (?:no|x{200})/);
          for (const form of [PASSWORD, "s3cr", forms[1]?.slice(0, 12) ?? "", inPlain.slice(0, 12)])
            expect(printed).not.toContain(form);
        });
      }
    }
  });

  test("says that no server answers", async () => {
    const { code, stderr } = await sendTest(smtp(1));
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/127\.0\.0\.1:1 did not take the test mail to \S+: .*ECONNREFUSED/),
    ]);
    expect(stderr).not.toContain("s3cr");
  });

  test("an address of the server that cannot be used is a fault of the configuration", async () => {
    const { code, stderr } = await sendTest({ ...smtp(25), UAM_SMTP_URL: "smtp://mail.example.org/?tls=maybe" });
    expect([code, stderr]).toEqual([78, expect.stringContaining("UAM_SMTP_URL: The SMTP URL has tls=maybe")]);
  });
});

describe("uam mail test, by Resend", () => {
  const answers = (status: number, body: object) =>
    Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json(body, { status }) });
  const resend = ({ url }: { readonly url: URL }) => ({
    UAM_RESEND_API_KEY: "re_hidden_key",
    UAM_RESEND_BASE_URL: url.origin,
    UAM_MAIL_FROM: "uam@example.org",
  });

  test("quotes the answer, without the key", async () => {
    const taking = answers(200, { id: "49a3999c" });
    const taken = await sendTest(resend(taking));
    expect([taken.code, taken.stdout]).toEqual([
      0,
      expect.stringContaining(
        `${taking.url.host} accepted the test mail to ann@example.org. Its answer: the id 49a3999c`,
      ),
    ]);
    await taking.stop(true);
    const refusing = answers(401, { statusCode: 401, name: "invalid_api_key", message: "re_hidden_key is no key" });
    const refused = await sendTest(resend(refusing));
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("Resend answered 401: invalid_api_key: (hidden) is no key"),
    ]);
    await refusing.stop(true);
  });
});

function smtp(port: number) {
  return {
    UAM_SMTP_URL: `smtp://mailer:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}?tls=none`,
    UAM_MAIL_FROM: "uam@example.org",
  };
}

/** The answers of a server that is otherwise content. */
interface Script {
  readonly login?: string;
  readonly recipient?: string;
  readonly taken?: string;
}

async function withServer(script: Script, use: (port: number) => Promise<void>): Promise<void> {
  const server = createServer((socket) => {
    let inData = false;
    let rest = "";
    const say = (line: string) => void socket.write(`${line}\r\n`);
    const answer = (line: string) => {
      if (inData && line !== ".") return;
      if (inData) say(script.taken ?? "250 OK");
      else if (line.startsWith("EHLO")) say("250-mail.example.org\r\n250 AUTH PLAIN");
      else if (line.startsWith("AUTH")) say(script.login ?? "235 Welcome");
      else if (line.startsWith("RCPT")) say(script.recipient ?? "250 OK");
      else say(line === "DATA" ? "354 Go on" : "250 OK");
      inData = !inData && line === "DATA";
    };
    socket.setEncoding("utf8");
    socket.on("error", () => socket.destroy());
    socket.on("data", (text: string) => {
      const lines = (rest + text).split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) answer(line);
    });
    say("220 mail.example.org");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use(portOf(server));
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server listens on no port");
  return address.port;
}
