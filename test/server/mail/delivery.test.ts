import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { sendCode } from "../../../src/domain/auth/codes/otp.ts";
import { countDeadLetters, queueMail, queueMails } from "../../../src/domain/mail/outbox.ts";
import { createUser } from "../../../src/domain/users/users.ts";
import { deliverDue, MAX_ATTEMPTS, startDelivery, waitAfter } from "../../../src/server/mail/delivery.ts";
import type { Log } from "../../../src/shared/log.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/shared/time/clock.ts";
import { type Database, openDatabase } from "../../../src/store/client.ts";
import { outbox } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { HANG } from "../../support/hang.ts";
import { createTestPost, type TestPost } from "../../support/post.ts";
import { until } from "../../support/until.ts";

let app: TestApp;
let post: TestPost;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.db.delete(outbox);
  post = createTestPost();
});

const LATER = { kind: "retry", reason: "451 Come back later" } as const;
const deliver = () => deliverDue(app.services, post);

function queue(
  recipient: string,
  { db = app.db, ...more }: { db?: Database; expiresAt?: Date; dedupeKey?: string; fail?: boolean } = {},
): Promise<void> {
  const message = { subject: `To ${recipient}`, text: "the text\n", html: "<p>the text</p>" };
  return db.transaction(async (tx) => {
    await queueMail({ tx, context: app.services }, { recipient, message, ...more });
    if (more.fail) throw new Error("rolled back");
  });
}

async function only() {
  const [mail, ...others] = await app.mails();
  expect(others).toEqual([]);
  if (mail === undefined) throw new Error("there is no mail");
  return mail;
}

describe("deliverDue()", () => {
  test("sends each mail once, with a key of its own, and empties its text", async () => {
    for (let index = 0; index < 20; index++) await queue(`r${index}@example.org`);
    await deliver();
    await deliver();
    expect(post.sent.map((mail) => mail.to).sort()).toEqual(
      Array.from({ length: 20 }, (_, i) => `r${i}@example.org`).sort(),
    );
    expect(new Set(post.sent.map((mail) => mail.key)).size).toBe(20);
    expect(post.sent[0]).toMatchObject({ text: "the text\n", html: "<p>the text</p>" });
    for (const mail of await app.mails())
      expect(mail).toMatchObject({ status: "sent", text: "", html: "", finishedAt: app.clock.now(), attempts: 1 });
  });

  test("sends nothing of an operation that failed, and nothing twice for one key", async () => {
    await expect(queue("no@example.org", { fail: true })).rejects.toThrow("rolled back");
    await queue("once@example.org", { dedupeKey: "k" });
    await deliver();
    await queue("once@example.org", { dedupeKey: "k" });
    await deliver();
    expect(post.sent.map((mail) => mail.to)).toEqual(["once@example.org"]);
  });

  test("of many instances at once one sends a mail", async () => {
    post.answer = async () => {
      await Bun.sleep(Math.random() * 5);
      return { kind: "sent" };
    };
    for (let index = 0; index < 40; index++) await queue(`r${index}@example.org`);
    await Promise.all(Array.from({ length: 5 }, deliver));
    expect(post.sent).toHaveLength(40);
    expect(new Set(post.sent.map((mail) => mail.key)).size).toBe(40);
  });

  test("retries after growing waits, under the same key", async () => {
    const keys: string[] = [];
    const transport = {
      ...post,
      send: async (_: unknown, key: string) => {
        keys.push(key);
        return LATER;
      },
    };
    await queue("a@example.org");
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 15; attempt++) {
      await deliverDue(app.services, transport);
      const mail = await only();
      expect(mail).toMatchObject({ status: "queued", attempts: attempt, lastError: LATER.reason, text: "the text\n" });
      waits.push(mail.dueAt.getTime() - app.clock.now().getTime());
      app.clock.set(new Date(mail.dueAt.getTime() - 1));
      await deliverDue(app.services, transport);
      expect(keys).toHaveLength(attempt);
      app.clock.advance(1);
    }
    expect(new Set(keys).size).toBe(1);
    waits.forEach((wait, index) => {
      const middle = Math.min(HOUR, 5 * SECOND * 2 ** index);
      expect(wait).toBeGreaterThanOrEqual(0.75 * middle);
      expect(wait).toBeLessThanOrEqual(1.25 * middle);
    });
    await deliver();
    expect(post.sent).toHaveLength(1);
    expect(await only()).toMatchObject({ status: "sent", text: "" });
  });

  test("gives up what is refused, and after days what is never accepted; both are counted", async () => {
    const before = await countDeadLetters(app.services);
    post.answer = () => ({ kind: "reject", reason: "550 There is no such mailbox" });
    await queue("refused@example.org");
    await deliver();
    expect(await only()).toMatchObject({
      status: "dead",
      attempts: 1,
      text: "",
      html: "",
      lastError: "550 There is no such mailbox",
    });
    await app.db.delete(outbox);
    post.answer = () => LATER;
    await queue("never@example.org");
    await deliver();
    const first = await only();
    let last = first;
    for (let index = 2; index <= MAX_ATTEMPTS; index++) {
      app.clock.set(last.dueAt);
      await deliver();
      last = await only();
    }
    expect(last).toMatchObject({ status: "dead", attempts: MAX_ATTEMPTS, text: "" });
    const days = (app.clock.now().getTime() - first.createdAt.getTime()) / DAY;
    expect(days).toBeGreaterThan(2);
    expect(days).toBeLessThan(4);
    app.clock.advance(30 * DAY);
    await deliver();
    expect(post.sent).toEqual([]);
    expect(await countDeadLetters(app.services)).toBe(before + 1);
  });

  test("drops what has become useless, and empties it at that moment", async () => {
    post.answer = () => LATER;
    const expiresAt = new Date(app.clock.now().getTime() + 7 * SECOND);
    await queue("late@example.org", { expiresAt });
    await deliver();
    app.clock.advance(6.9 * SECOND);
    await deliver();
    post.answer = () => ({ kind: "sent" });
    expect((await only()).dueAt).toEqual(expiresAt);
    app.clock.set(expiresAt);
    await deliver();
    expect(await only()).toMatchObject({ status: "dropped", text: "", html: "", lastError: LATER.reason });
    expect(post.sent).toEqual([]);
  });

  test("sends first what becomes useless first, even after a long queue", async () => {
    for (let index = 0; index < 10; index++) await queue(`r${index}@example.org`);
    app.clock.advance(SECOND);
    await queue("code@example.org", { expiresAt: new Date(app.clock.now().getTime() + 10 * MINUTE) });
    await deliver();
    expect(post.sent.slice(0, 2).map((mail) => mail.to)).toContain("code@example.org");
  });

  test("sends again, under the same key, what a process claimed that then crashed", async () => {
    await queue("crash@example.org");
    const claimed = Promise.withResolvers<void>();
    const send = () => {
      claimed.resolve();
      return new Promise<never>(() => {});
    };
    void deliverDue(app.services, { ...post, send });
    await claimed.promise;
    await deliver();
    expect(post.sent).toEqual([]);
    app.clock.advance(10 * MINUTE);
    await deliver();
    expect(post.sent.map((mail) => mail.to)).toEqual(["crash@example.org"]);
    expect(post.sent[0]?.key).toBe(`outbox-${(await only()).id}`);
  });

  test("logs neither text nor code of a mail, whatever becomes of it", async () => {
    const lines: string[] = [];
    const note = (message: string, fields: unknown) => void lines.push(message + JSON.stringify(fields));
    const log = { debug: note, info: note, warn: note, error: note } as Log;
    await createUser(app.system, { username: "quiet", email: "quiet@example.org" });
    await sendCode(app.system, "quiet", await app.captcha());
    const text =
      (await app.mails("quiet@example.org")).find((mail) => mail.subject.startsWith("Your code"))?.text ?? "";
    const code = /^\s+(\d{8})$/m.exec(text)?.[1] ?? "";
    expect(code).toHaveLength(8);
    for (const kind of ["retry", "reject"] as const) {
      post.answer = () => ({ kind, reason: "because" });
      await deliverDue({ ...app.services, log }, post);
      app.clock.advance(5 * SECOND + 1300);
    }
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.join()).not.toContain(code);
    expect(lines.join()).not.toContain("the text");
  });
});

/** So many in a row that waiting each time for the next look at the queue, after five seconds, would take longer than a hang. */
async function manyInTime(send: (round: number) => Promise<void>): Promise<void> {
  const began = performance.now();
  for (let round = 1; round <= 15; round++) await send(round);
  expect(performance.now() - began).toBeLessThan(HANG);
}

describe("startDelivery()", () => {
  test("sends a code without anybody waiting for the mail server", async () => {
    await createUser(app.system, { username: "swift", email: "swift@example.org" });
    const delivery = startDelivery(app.services, post);
    await until(() => post.sent.length === 1);
    // Whoever waited for the mail server would wait until the test's end.
    const { promise: hang, resolve } = Promise.withResolvers<void>();
    post.answer = async () => {
      await hang;
      return { kind: "sent" };
    };
    await sendCode(app.system, "swift", await app.captcha());
    resolve();
    await until(() => post.sent.some((mail) => mail.subject.startsWith("Your code")));
    await delivery.stop();
  });

  test("is not kept from sending by a mail that takes long", async () => {
    const { promise: hang, resolve } = Promise.withResolvers<void>();
    post.answer = async (mail) => {
      if (mail.to === "slow@example.org") await hang;
      return { kind: "sent" };
    };
    await queue("slow@example.org");
    const delivery = startDelivery(app.services, post);
    await Bun.sleep(200);
    for (let index = 0; index < 3; index++) {
      await queue(`quick${index}@example.org`);
      await until(() => post.sent.length === index + 1);
    }
    resolve();
    await delivery.stop();
    expect(post.sent).toHaveLength(4);
  });

  test("sends several of one commit at the same time: one lane is woken, and calls the other", async () => {
    let together = 0;
    let both = Promise.withResolvers<void>();
    post.answer = async () => {
      if (++together % 2 === 0) both.resolve();
      await both.promise;
      return { kind: "sent" };
    };
    const delivery = startDelivery(app.services, post);
    await Bun.sleep(200);
    const message = { subject: "to all", text: "the text\n", html: "<p>the text</p>" };
    const mails = ["a", "b"].map((name) => ({ recipient: `${name}@example.org`, message }));
    await manyInTime(async (round) => {
      both = Promise.withResolvers();
      await app.db.transaction((tx) => queueMails({ tx, context: app.services }, mails));
      await until(() => post.sent.length === 2 * round);
    });
    await delivery.stop();
  });

  test("is woken by a commit of another process: any connection to the database will do", async () => {
    const delivery = startDelivery(app.services, post);
    await Bun.sleep(200);
    await manyInTime(async (round) => {
      await queue(`other${round}@example.org`);
      await until(() => post.sent.length === round);
    });
    await delivery.stop();
  });

  test("drops what became useless while nobody sent mail", async () => {
    await queue("late@example.org", { expiresAt: new Date(app.clock.now().getTime() + SECOND) });
    app.clock.advance(2 * SECOND);
    const delivery = startDelivery(app.services, post);
    await until(async () => (await only()).status === "dropped");
    await delivery.stop();
    expect(post.sent).toEqual([]);
    expect(await only()).toMatchObject({ text: "", html: "" });
  });

  test("stop() lets the mail under way finish, begins no other, and loses none", async () => {
    let begun = 0;
    post.answer = async () => {
      begun++;
      await Bun.sleep(200);
      return { kind: "sent" };
    };
    for (let index = 0; index < 10; index++) await queue(`r${index}@example.org`);
    const delivery = startDelivery(app.services, post);
    await until(() => begun > 0);
    await delivery.stop();
    expect(post.sent).toHaveLength(begun);
    expect(begun).toBeLessThan(4);
    const left = await app.db.select().from(outbox).where(eq(outbox.status, "queued"));
    expect(left).toHaveLength(10 - begun);
    await deliver();
    expect(new Set(post.sent.map((mail) => mail.to)).size).toBe(10);
    expect(post.sent).toHaveLength(10);
  });

  test("continues after the database was unavailable", async () => {
    const delivery = startDelivery(app.services, post);
    // What is lost is the service's; whoever cuts it off, and queues a mail then, is another process.
    const { db, close } = openDatabase(app.connection, 1);
    const others = "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
    await until(async () => (await db.execute(`select 1 ${others} and query like 'listen %'`)).length > 0);
    await db.execute(`select pg_terminate_backend(pid, ${HANG}) ${others}`);
    await queue("after@example.org", { db });
    await until(() => post.sent.length === 1);
    await delivery.stop();
    await close();
  }, 180_000);
});

describe("waitAfter()", () => {
  test("is never longer than an hour and a quarter, nor the same for all", () => {
    const waits = Array.from({ length: 200 }, () => waitAfter(70));
    expect(Math.max(...waits)).toBeLessThanOrEqual(1.25 * HOUR);
    expect(new Set(waits).size).toBeGreaterThan(100);
  });
});
