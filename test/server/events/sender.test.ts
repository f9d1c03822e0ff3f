/** Where messages to webhooks go, and where never: real connections, with names resolved by a stand-in and by the system. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mayGoTo, requireWebhookUrl } from "../../../src/domain/events/address.ts";
import { pingOf } from "../../../src/domain/events/message.ts";
import { createSender, type SenderOptions } from "../../../src/server/events/sender.ts";
import { systemClock } from "../../../src/shared/time/clock.ts";
import { makeCertificate } from "../../support/certificate.ts";
import { HANG } from "../../support/hang.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { needs } from "../../support/tools.ts";

const secret = new Uint8Array(32).fill(1);
const shown = `whsec_${Buffer.from(secret).toString("base64")}`;
const LOOPBACK = ["127.0.0.0/8"];

let directory: string;
let cert: string;
let plain: Receiver;
let secure: Receiver;
const hasOpenssl = needs("openssl");

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "uam-sender-"));
  const made = hasOpenssl ? makeCertificate(directory, "DNS:hooks.example.org") : undefined;
  cert = made?.cert ?? "";
  plain = await startReceiver();
  secure = await startReceiver(made && { tls: made });
});
afterAll(async () => {
  await Promise.all([plain.close(), secure.close()]);
  rmSync(directory, { recursive: true });
});

async function send(url: string, options: Partial<SenderOptions> = {}): Promise<string> {
  const sender = createSender({ networks: LOOPBACK, clock: systemClock, ...options });
  try {
    return await sender.send({ url, secret }, pingOf(7, systemClock.now()));
  } finally {
    sender.close();
  }
}

/** What was to be reached, and must not be. */
async function untouched(receiver: Receiver, work: () => Promise<void>): Promise<void> {
  const before = receiver.requests.length;
  await work();
  expect(receiver.requests.length).toBe(before);
}

describe("mayGoTo()", () => {
  test.each([
    ...["0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.16.0.1", "192.0.0.1", "192.0.2.1"],
    ...["192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
    ...["::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::808:808"],
    ...[
      "64:ff9b:1::1",
      "100::1",
      "2001::1",
      "2001:db8::1",
      "2002:7f00:1::",
      "3fff::1",
      "5f00::1",
      "fc00::1",
      "fd12::1",
    ],
    ...["fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "", "localhost", "8.8.8.8/0"],
  ])("a webhook never goes to %s", (address) => {
    expect(mayGoTo(address, { secure: true, networks: [] })).toBe(false);
  });

  test.each(["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001::1"])(
    "%s is public: only with TLS",
    (address) => {
      expect(mayGoTo(address, { secure: true, networks: [] })).toBe(true);
      expect(mayGoTo(address, { secure: false, networks: [] })).toBe(false);
    },
  );

  test("networks that are allowed are, with TLS and without", () => {
    const networks = ["10.1.0.0/16", "fd00::/8"];
    for (const secure of [true, false]) {
      const allowed = (address: string) => mayGoTo(address, { secure, networks });
      expect(["10.1.2.3", "::ffff:10.1.2.3", "fd00::1"].map(allowed)).toEqual([true, true, true]);
      expect(["10.2.0.1", "127.0.0.1", "fe80::1", "64:ff9b::a01:203"].map(allowed)).toEqual([
        false,
        false,
        false,
        false,
      ]);
    }
  });
});

describe("requireWebhookUrl()", () => {
  test.each([
    ["http://hooks.example.org/", "must begin with https://"],
    ["ftp://hooks.example.org/", "must begin with https://"],
    ["hooks.example.org", "is not a URL"],
    ["https://user:secret@hooks.example.org/", "name or a password"],
    ["https://hooks.example.org/#x", "fragment"],
    ["https://127.0.0.1/", "127.0.0.1 is not a public address"],
    // As browsers and resolvers read them: octal, hexadecimal, one number, mapped.
    ["https://0177.0.0.1/", "127.0.0.1 is not a public address"],
    ["https://0x7f.1/", "127.0.0.1 is not a public address"],
    ["https://2130706433/", "127.0.0.1 is not a public address"],
    ["https://[::ffff:10.0.0.1]/", "is not a public address"],
    ["https://169.254.169.254/latest/meta-data", "169.254.169.254 is not a public address"],
    ["https://localhost/", "localhost is a name for this host"],
    ["https://a.LOCALHOST./", "is a name for this host"],
    [`https://hooks.example.org/${"x".repeat(2000)}`, "at most 2000"],
  ])("refuses %s", (url, sentence) => {
    expect(() => requireWebhookUrl(url, [])).toThrow(sentence);
  });

  test("takes https at a name or a public address, and http where a network is allowed", () => {
    expect(requireWebhookUrl("https://Hooks.Example.org/x?y=1", [])).toBe("https://hooks.example.org/x?y=1");
    expect(requireWebhookUrl("https://[2606:4700:4700::1111]:8443/", [])).toBe("https://[2606:4700:4700::1111]:8443/");
    expect(requireWebhookUrl("http://siem.internal:8080/", ["10.0.0.0/8"])).toBe("http://siem.internal:8080/");
    expect(() => requireWebhookUrl("http://8.8.8.8/", ["10.0.0.0/8"])).toThrow("Without TLS");
  });
});

describe("createSender()", () => {
  test("signs what it sends as Standard Webhooks are", async () => {
    expect(await send(plain.url)).toBe("");
    const last = plain.requests.at(-1);
    if (last === undefined) throw new Error("nothing came");
    expect(last.json).toMatchObject({ type: "webhook.ping", data: { webhook_id: 7 } });
    expect(last.headers["user-agent"]).toMatch(/^uam\//);
    plain.verify(last, shown);
    expect(() => plain.verify({ ...last, body: `${last.body} ` }, shown)).toThrow("No matching signature");
  });

  test.if(hasOpenssl)("a name is resolved once for a delivery, and TLS is verified against the name", async () => {
    const looked: string[] = [];
    const resolve = async (name: string) => {
      looked.push(name);
      return ["127.0.0.1"];
    };
    const url = `https://hooks.example.org:${secure.port}/x?y=1`;
    expect(await send(url, { resolve, ca: cert })).toBe("");
    expect(looked).toEqual(["hooks.example.org"]);
    expect(secure.requests.at(-1)).toMatchObject({ path: "/x?y=1" });
    expect(secure.requests.at(-1)?.headers.host).toBe(`hooks.example.org:${secure.port}`);
    await untouched(secure, async () => {
      const other = `https://other.example.org:${secure.port}/`;
      expect(await send(other, { resolve, ca: cert })).toBe(
        `The certificate of other.example.org:${secure.port} is not accepted (ERR_TLS_CERT_ALTNAME_INVALID)`,
      );
      expect(await send(url, { resolve })).toContain("is not accepted (DEPTH_ZERO_SELF_SIGNED_CERT)");
    });
  });

  test.if(hasOpenssl)("a name that turns to a private address at the second look gets nothing there", async () => {
    const answers = [["127.0.0.2"], ["127.0.0.1"]];
    const resolve = async () => answers.shift() ?? [];
    await untouched(secure, async () => {
      const url = `https://hooks.example.org:${secure.port}/`;
      // What the first look found is what is connected to, and nobody is there.
      const networks = ["127.0.0.2/32"];
      expect(await send(url, { networks, resolve, ca: cert })).toContain("refuses connections");
      expect(answers).toHaveLength(1);
      expect(await send(url, { networks, resolve, ca: cert })).toBe(
        "127.0.0.1 is not a public address, and UAM_WEBHOOK_NETWORKS does not allow it",
      );
    });
  });

  test("of several addresses only those that are allowed are tried, one after the other", async () => {
    const resolve = async () => ["10.0.0.1", "127.0.0.2", "127.0.0.1"];
    expect(await send(`http://hooks.example.org:${plain.port}/`, { resolve })).toBe("");
    expect(await send("http://hooks.example.org/", { resolve: async () => [] })).toBe(
      "hooks.example.org has no address",
    );
  });

  test("localhost, resolved by the system, is refused unless it is allowed", async () => {
    await untouched(plain, async () => {
      expect(await send(`http://localhost:${plain.port}/`, { networks: ["10.0.0.0/8"] })).toContain(
        "UAM_WEBHOOK_NETWORKS",
      );
      expect(await send(`https://localhost:${plain.port}/`, { networks: [] })).toContain("is not a public address");
    });
    expect(await send(`http://localhost:${plain.port}/`, { networks: ["127.0.0.0/8", "::1/128"] })).toBe("");
    expect(await send("https://no-such-name.invalid/")).toMatch(/^The name no-such-name\.invalid cannot be resolved/);
  });

  test("a redirect to loopback is not followed", async () => {
    const other = await startReceiver();
    for (const status of [301, 302, 307, 308]) {
      plain.answer = status;
      plain.location = other.url;
      expect(await send(plain.url)).toBe(`The receiver answered ${status}, a redirect; those are not followed`);
    }
    plain.answer = 200;
    expect(other.requests).toEqual([]);
    await other.close();
  });

  test("what answers nothing is given up in time, and a large answer is not read", async () => {
    plain.answer = "hang";
    const began = performance.now();
    expect(await send(plain.url, { timeout: 500 })).toBe("There was no answer within 0.5 seconds");
    expect(performance.now() - began).toBeLessThan(HANG);
    plain.answer = 200;
    plain.size = 20_000_000;
    const before = process.memoryUsage().rss;
    expect(await send(plain.url)).toBe("");
    expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000);
    plain.size = 0;
    const hanging = { resolve: () => new Promise<never>(() => {}) };
    expect(await send("http://hooks.example.org/", { ...hanging, timeout: 200 })).toContain("no answer");
  });

  test("says what the receiver answered, or that it refuses, and never what it sent", async () => {
    plain.answer = 404;
    expect(await send(plain.url)).toBe("The receiver answered 404");
    plain.answer = 200;
    const gone = await startReceiver();
    await gone.close();
    expect(await send(gone.url)).toBe(`127.0.0.1:${gone.port} refuses connections`);
    expect(await send(`https://127.0.0.1:${plain.port}/`)).toMatch(/^127\.0\.0\.1:\d+ did not take it|certificate/);
  });
});
