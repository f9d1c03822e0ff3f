import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { sendCode } from "../../../src/domain/auth/codes/otp.ts";
import { expiryReminder } from "../../../src/domain/mail/account-messages.ts";
import type { Letter } from "../../../src/domain/mail/letter.ts";
import { applicationReceived, applicationRejected, keyAdded } from "../../../src/domain/mail/messages.ts";
import { countDeadLetters, queueMail } from "../../../src/domain/mail/outbox.ts";
import { createUser } from "../../../src/domain/users/users.ts";
import { deliverDue, startDelivery } from "../../../src/server/mail/delivery.ts";
import type { MailTransport } from "../../../src/server/mail/mail.ts";
import { createSmtpTransport } from "../../../src/server/mail/smtp.ts";
import { HOUR, MINUTE, SECOND } from "../../../src/shared/time/clock.ts";
import { outbox } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { HANG } from "../../support/hang.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { until } from "../../support/until.ts";

// These run a mail server from a Debian package.
if (process.env.UAM_TEST_HOST === "1")
  describe("delivery through a real mail server", () => {
    let app: TestApp;
    let server: SmtpServer;
    let transport: MailTransport;

    beforeAll(async () => {
      app = await createTestApp();
      server = await startSmtpServer();
    }, 180_000);
    afterAll(async () => {
      await server.remove();
      await app.close();
    });
    beforeEach(async () => {
      await app.db.delete(outbox);
      const login = `${server.user}:${encodeURIComponent(server.password)}`;
      const url = `smtp://${login}@localhost:${server.port}?tls=required&ca=${encodeURIComponent(server.ca)}`;
      transport = createSmtpTransport({ url, from: "UAM <uam@example.org>", timeout: 2 * HANG });
      return () => transport.close();
    });

    const deliver = () => deliverDue(app.services, transport);
    const statuses = async () => (await app.mails()).map((mail) => mail.status);
    const site = {
      ...{ baseUrl: "https://uam.example.org", host: "host.example.org", port: 22 },
      ...{ contact: undefined, hostKeys: [], console: true },
    };

    function queue(recipient: string, message: Letter): Promise<void> {
      return app.db.transaction((tx) => queueMail({ tx, context: app.services }, { recipient, message }));
    }
    const plain = (subject: string): Letter => ({ subject, text: "text\n", html: "<p>text</p>" });

    /** Whole messages with that in a subject; exim delivers after it has taken a message. */
    async function received(subject: string, count: number): Promise<readonly string[]> {
      const found = () => server.inbox().filter((mail) => new RegExp(`^Subject: .*${subject}`, "m").test(mail));
      for (let attempt = 0; attempt < 1200 && found().length < count; attempt++) await Bun.sleep(50);
      await Bun.sleep(300);
      expect(found()).toHaveLength(count);
      return found();
    }

    test("a server that is down costs no mail: all come once it is back, each once", async () => {
      await server.stop();
      for (let index = 0; index < 8; index++) await queue(`down${index}@example.org`, plain(`outage ${index}`));
      await deliver();
      expect(new Set(await statuses())).toEqual(new Set(["queued"]));
      app.clock.advance(MINUTE);
      await deliver();
      await server.start();
      app.clock.advance(MINUTE);
      await deliver();
      await deliver();
      expect(new Set(await statuses())).toEqual(new Set(["sent"]));
      const mails = await received("outage", 8);
      expect(new Set(mails.map((mail) => headersOf(mail).get("envelope-to"))).size).toBe(8);
    }, 180_000);

    test("a refused recipient is given up, a deferred one is retried, and neither holds up the others", async () => {
      const before = await countDeadLetters(app.services);
      for (const recipient of ["refused", "later", "fine"])
        await queue(`${recipient}@example.org`, plain(`answers ${recipient}`));
      await deliver();
      expect(await statuses()).toEqual(["dead", "queued", "sent"]);
      expect(await countDeadLetters(app.services)).toBe(before + 1);
      const [refused, later] = await app.mails();
      expect(refused?.lastError).toContain("There is no such mailbox");
      expect(later?.lastError).toContain("Come back later");
      app.clock.advance(HOUR);
      await deliver();
      expect(await statuses()).toEqual(["dead", "queued", "sent"]);
      await received("answers", 1);
    }, 180_000);

    test("no request waits for a slow server, and a slow mail holds up no other", async () => {
      await createUser(app.system, { username: "hurry", email: "hurry@example.org" });
      await deliver();
      const delivery = startDelivery(app.services, transport);
      await queue("slow@example.org", plain("slowness itself"));
      await Bun.sleep(300);
      await sendCode(app.system, "hurry", await app.captcha());
      await received("Your code", 1);
      expect((await app.mails("slow@example.org"))[0]?.status).toBe("queued");
      server.release();
      await received("slowness", 1);
      await delivery.stop();
      expect((await app.mails("slow@example.org"))[0]).toMatchObject({ status: "sent", attempts: 1 });
    }, 180_000);

    test("a server that dies in the middle: nothing is lost, and what it accepted is not sent again", async () => {
      for (let index = 0; index < 60; index++) await queue(`mid${index}@example.org`, plain(`middle ${index}`));
      const delivering = deliver();
      await until(async () => (await statuses()).includes("sent"));
      await server.stop();
      await delivering;
      expect(await statuses()).toContain("queued");
      await server.start();
      for (let round = 0; round < 5; round++) {
        app.clock.advance(2 * MINUTE);
        await deliver();
      }
      expect(new Set(await statuses())).toEqual(new Set(["sent"]));
      await Bun.sleep(1500);
      const ids = server
        .inbox()
        .map(headersOf)
        .filter((headers) => headers.get("subject")?.startsWith("middle"));
      const recipients = ids.map((headers) => headers.get("envelope-to"));
      // The kill may have hit between the server's write and its answer: that mail comes again under the same Message-ID.
      expect(new Set(ids.map((headers) => headers.get("message-id"))).size).toBe(new Set(recipients).size);
      expect(recipients.length).toBeLessThanOrEqual(62);
      for (const { lastError } of await app.mails()) expect(lastError.length).toBeLessThan(301);
    }, 180_000);

    test("no name, purpose, reason or key name becomes a header or a recipient", async () => {
      const evil =
        "x\r\nBcc: victim@example.org\r\n\r\n.\r\nRCPT TO:<victim@example.org>\r\n\u2028\0=?utf-8?q?=0D=0ABcc:_victim@example.org?=";
      const application = { id: 1, username: evil, email: evil, supervisor: evil, purpose: evil };
      const user = { username: evil, expireAt: app.clock.now(), status: "active", profiles: null } as const;
      const letters = [
        applicationReceived(site, application),
        applicationRejected(site, { username: evil, reason: evil }),
        expiryReminder(site, user, { now: app.clock.now(), to: "supervisor" }),
        keyAdded(site, user, { name: evil, type: evil, fingerprint: evil }),
      ].map((letter, index) => ({ ...letter, subject: `hostile ${index} ${letter.subject}` }));
      for (const letter of letters) await queue("chief@example.org", letter);
      await deliver();
      expect((await app.mails()).map(({ status, lastError }) => ({ status, lastError }))).toEqual(
        letters.map(() => ({ status: "sent", lastError: "" })),
      );
      for (const mail of await received("hostile", 4)) {
        const headers = headersOf(mail);
        expect(headers.get("envelope-to")).toBe("chief@example.org");
        expect(headers.get("to")).toBe("chief@example.org");
        expect([...headers.keys()].filter((name) => ["bcc", "cc", "rcpt to"].includes(name))).toEqual([]);
      }
      await queue("a@example.org\r\nBcc: victim@example.org", plain("hostile recipient"));
      await queue("b@example.org", plain("hostile\r\nBcc: victim@example.org"));
      await deliver();
      expect((await statuses()).slice(4)).toEqual(["dead", "dead"]);
      expect(server.inbox().some((mail) => headersOf(mail).get("envelope-to")?.includes("victim"))).toBe(false);
    }, 180_000);

    test("a mail that was deferred for longer than it is useful is dropped", async () => {
      const expiresAt = new Date(app.clock.now().getTime() + 20 * SECOND);
      await app.db.transaction((tx) =>
        queueMail(
          { tx, context: app.services },
          { recipient: "later@example.org", message: plain("too late"), expiresAt },
        ),
      );
      await deliver();
      app.clock.set(expiresAt);
      await deliver();
      expect(await statuses()).toEqual(["dropped"]);
    }, 180_000);
  });

/** Header fields by lower-case name, unfolded. */
function headersOf(mail: string): ReadonlyMap<string, string> {
  const [head = ""] = mail.split(/\r?\n\r?\n/, 1);
  const lines = head.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  return new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
}
