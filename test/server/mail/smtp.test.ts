import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createSmtpTransport } from "../../../src/server/mail/smtp.ts";
import { HANG } from "../../support/hang.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

const MESSAGE = {
  to: "alice@example.org",
  subject: "Ihr Zugang läuft ab",
  text: "Grüße,\n.\neine Zeile mit einem Punkt\n",
  html: "<p>Grüße</p>",
};
const FROM = "UAM <uam@example.org>";

describe("createSmtpTransport", () => {
  test.each([
    ["http://mail.example.org", "must look like smtp://"],
    ["mail.example.org", "must look like smtp://"],
    ["smtp://mail.example.org?tls=maybe", "required, optional or none"],
    ["smtps://mail.example.org?tls=none", "smtps: is TLS from the start"],
    ["smtp://mail.example.org?timeout=5", 'unknown parameter "timeout"'],
    ["smtp://mail.example.org?ca=/no/such.pem", "/no/such.pem that the SMTP URL names cannot be read"],
    ["smtp://us%er:x@mail.example.org", "not followed by two hex digits"],
  ])("createSmtpTransport() refuses %s and says why, without the password", (url, reason) => {
    expect(() => createSmtpTransport({ url, from: FROM })).toThrow(reason);
  });

  test("send() treats a missing server as retry", async () => {
    const transport = createSmtpTransport({ url: "smtp://127.0.0.1:1", from: FROM });
    expect((await transport.send(MESSAGE, "k")).kind).toBe("retry");
    await expect(transport.verify()).rejects.toThrow("The mail server cannot be used");
    await transport.close();
  });

  test("send() refuses what would break out of a header, without a connection", async () => {
    const transport = createSmtpTransport({ url: "smtp://127.0.0.1:1", from: FROM });
    for (const to of ["a@b.org\r\nBcc: c@d.org", "a@b.org, c@d.org", "undisclosed: a@b.org;", "A <a@b.org>"]) {
      expect((await transport.send({ ...MESSAGE, to }, "k")).kind).toBe("reject");
    }
    expect((await transport.send({ ...MESSAGE, subject: "a\r\nBcc: c@d.org" }, "k")).kind).toBe("reject");
    await transport.close();
  });
});

/** These run a mail server from a Debian package. */
if (process.env.UAM_TEST_HOST === "1")
  describe("createSmtpTransport with a real server", () => {
    let server: SmtpServer;
    const urlOf = (query: string, login = `${server.user}:${encodeURIComponent(server.password)}@`): string =>
      `smtp://${login}localhost:${server.port}?${query}`;
    const trusted = (): string => urlOf(`tls=required&ca=${encodeURIComponent(server.ca)}`);

    beforeAll(async () => {
      server = await startSmtpServer();
    }, 180_000);
    afterAll(() => server.remove());

    test("send() delivers over STARTTLS with a login, with a Message-ID from the idempotency key", async () => {
      const transport = createSmtpTransport({ url: trusted(), from: FROM });
      await transport.verify();
      expect(await transport.send(MESSAGE, "outbox-1")).toEqual({
        kind: "sent",
        answer: expect.stringMatching(/^250 /),
      });
      expect(await transport.send(MESSAGE, "outbox-1")).toEqual({
        kind: "sent",
        answer: expect.stringMatching(/^250 /),
      });
      expect(await transport.send(MESSAGE, "outbox-2")).toEqual({
        kind: "sent",
        answer: expect.stringMatching(/^250 /),
      });
      await transport.close();
      const mails = await received(server, 3);
      expect(new Set(mails.map((mail) => headerOf(mail, "Message-ID"))).size).toBe(2);
      const [mail = ""] = mails;
      expect(mail).toMatch(/with esmtpsa/);
      expect(headerOf(mail, "Envelope-to")).toBe(MESSAGE.to);
      expect(headerOf(mail, "To")).toBe(MESSAGE.to);
      expect(headerOf(mail, "From")).toBe(FROM);
      expect(headerOf(mail, "Auto-Submitted")).toBe("auto-generated");
      expect(headerOf(mail, "Message-ID")).toMatch(/^<[0-9a-f]{40}@example\.org>$/);
      expect(mail).toContain("multipart/alternative");
      expect(mail).toMatch(/\r?\n\.\r?\neine Zeile/);
    });

    test("send() rejects a mailbox that is refused for good, and retries one that is deferred", async () => {
      const transport = createSmtpTransport({ url: trusted(), from: FROM });
      const refused = await transport.send({ ...MESSAGE, to: "refused@example.org" }, "k");
      expect(refused).toMatchObject({ kind: "reject", reason: expect.stringContaining("There is no such mailbox") });
      expect((await transport.send({ ...MESSAGE, to: "later@example.org" }, "k")).kind).toBe("retry");
      await transport.close();
    });

    test("send() does not trust a certificate that nobody vouches for", async () => {
      const transport = createSmtpTransport({ url: urlOf("tls=required"), from: FROM });
      expect(await transport.send(MESSAGE, "k")).toMatchObject({
        kind: "retry",
        reason: expect.stringMatching(/self.signed/i),
      });
      await transport.close();
    });

    test("send() treats a wrong password as retry and does not reveal it", async () => {
      const transport = createSmtpTransport({ url: urlOf("tls=optional", "mailer:wr0ng-pass@"), from: FROM });
      const result = await transport.send(MESSAGE, "k");
      expect(result.kind).toBe("retry");
      expect(JSON.stringify(result)).not.toContain("wr0ng-pass");
      await transport.close();
    });

    test("send() needs no certificate on loopback unless told to", async () => {
      const transport = createSmtpTransport({ url: urlOf(""), from: FROM });
      expect(await transport.send(MESSAGE, "k")).toEqual({ kind: "sent", answer: expect.stringMatching(/^250 /) });
      await transport.close();
    });

    test("send() fails while the server is down and delivers when it is back, with the same transport", async () => {
      const transport = createSmtpTransport({ url: trusted(), from: FROM });
      expect((await transport.send(MESSAGE, "up")).kind).toBe("sent");
      await server.stop();
      expect((await transport.send(MESSAGE, "down")).kind).toBe("retry");
      await server.start();
      expect((await transport.send(MESSAGE, "back")).kind).toBe("sent");
      await transport.close();
    }, 180_000);

    test("send() waits no longer than its timeout for a slow server", async () => {
      const transport = createSmtpTransport({ url: trusted(), from: FROM, timeout: 1500 });
      const start = performance.now();
      expect((await transport.send({ ...MESSAGE, to: "slow@example.org" }, "slow")).kind).toBe("retry");
      expect(performance.now() - start).toBeLessThan(HANG);
      await transport.close();
    });
  });

/** Exim delivers after it has taken a message. */
async function received(server: SmtpServer, count: number): Promise<readonly string[]> {
  for (let attempt = 0; attempt < 1200 && server.inbox().length < count; attempt++) await Bun.sleep(50);
  expect(server.inbox()).toHaveLength(count);
  return server.inbox();
}

function headerOf(mail: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)$`, "im").exec(mail)?.[1]?.trim();
}
