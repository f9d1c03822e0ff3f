/** The end of access at a moment: a later one is given or not, an earlier one goes forward only. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { expireDue } from "../../../src/domain/lifecycle/lifecycle.ts";
import { remindExpiring } from "../../../src/domain/lifecycle/reminders.ts";
import { systemContext } from "../../../src/domain/operation/context.ts";
import { moveEnd } from "../../../src/domain/users/extend.ts";
import { disableUser } from "../../../src/domain/users/users.ts";
import { DAY, HOUR, MINUTE, shift } from "../../../src/shared/time/clock.ts";
import { closings, users } from "../../../src/store/schema.ts";
import { sessions } from "../../../src/store/schema-auth.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
  admin = await app.admin();
});
beforeEach(() => app.clock.advance(MINUTE));
afterEach(async () => {
  app.host.failing.clear();
  await app.db.delete(closings);
});
afterAll(() => app.close());

async function person() {
  const username = `end-${++count}`;
  const { id, client } = await app.user(username);
  expect((await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() })).status).toBe(201);
  return { id, username, account: `ext_${username}`, email: `${username}@example.org`, ...(await stored(id)) };
}
type Person = Awaited<ReturnType<typeof person>>;

async function stored(id: number) {
  const [user] = await app.db.select().from(users).where(eq(users.id, id));
  if (user === undefined) throw new Error("no such user");
  return { status: user.status, end: user.expireAt, changed: user.updatedAt };
}
const endOnHost = ({ account }: Person) => app.host.accounts.get(account)?.expireAt;
const answerOf = (until: Date) => ({ expire_at: until.toISOString() });
async function runJobs(): Promise<void> {
  const now = app.clock.now();
  await expireDue(systemContext(app.services), { now, holdUntil: undefined });
  await remindExpiring(app.services, now);
}
const inDays = (days: number) => shift(app.clock.now(), days * DAY);
const extend = ({ id }: Person, body: object, path = "extend") => admin.call("POST", `/users/${id}/${path}`, body);
const recordsOf = async ({ id }: Person) =>
  (await app.auditRows()).filter(({ subjectId, action }) => subjectId === id && /extend|shorten/.test(action));

describe("moveEnd() to a later moment", () => {
  test("gives access until then, on the host, in the record and by mail", async () => {
    const one = await person();
    const until = shift(one.end, DAY);
    const answer = await extend(one, { until: until.toISOString(), reason: "The tests take longer" });
    expect([answer.status, answer.body.data]).toEqual([200, answerOf(until)]);
    expect([(await stored(one.id)).end, endOnHost(one)]).toEqual([until, until]);
    expect(await app.lastAudit("user.extend")).toMatchObject({
      result: "success",
      detail: { old_expire_at: one.end.toISOString(), expire_at: until.toISOString(), reason: "The tests take longer" },
    });
    expect((await app.mails(one.email)).at(-1)?.subject).toContain("now lasts until");
    // Once more, as by a client that lost the answer: the same end.
    expect((await extend(one, { until: until.toISOString() })).body.data.expire_at).toBe(until.toISOString());
  });

  test("brings an expired user back, also to an end before the one that they had asked for", async () => {
    const one = await person();
    app.clock.advance(one.end.getTime() - app.clock.now().getTime() + HOUR);
    await runJobs();
    admin = await app.admin();
    expect((await stored(one.id)).status).toBe("expired");
    const until = inDays(2);
    expect((await extend(one, { until: until.toISOString() })).status).toBe(200);
    expect(await stored(one.id)).toMatchObject({ status: "active", end: until });
    expect(app.host.accounts.get(one.account)).toMatchObject({ open: true, expireAt: until });
  });

  test("is undone whole if the host refuses", async () => {
    const one = await person();
    app.host.failing.add("openAccount");
    expect((await extend(one, { until: shift(one.end, DAY).toISOString() })).status).toBe(500);
    expect((await stored(one.id)).end).toEqual(one.end);
    expect((await app.lastAudit("user.extend")).result).toBe("failed");
  });

  test.each([
    ["now", () => inDays(0), "must be in the future; to end it now, disable end-"],
    ["the past", () => inDays(-1), "must be in the future"],
    ["more than 3650 days", (one: Person) => shift(one.end, 3650 * DAY + 1), "at most 3650 days after"],
  ])("refuses %s", async (_, until, sentence) => {
    const one = await person();
    for (const path of ["extend?preview=true", "extend"]) {
      const answer = await extend(one, { until: until(one).toISOString() }, path);
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(sentence)]);
    }
    expect((await stored(one.id)).end).toEqual(one.end);
    expect((await recordsOf(one)).map(({ result }) => result)).toEqual(["failed"]);
  });

  test.each([
    ["both at once", { days: 3, until: "2030-01-01T00:00:00Z" }, "until cannot be given together with days"],
    ["a date alone", { until: "2030-01-01" }, "is not an RFC 3339 timestamp"],
    ["a day that there is not", { until: "2030-02-30T00:00:00Z" }, "is not an RFC 3339 timestamp"],
    ["a number", { until: 1_900_000_000 }, "until"],
  ])("refuses %s", async (_, body, sentence) => {
    const one = await person();
    const answer = await extend(one, body);
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(sentence)]);
    expect((await stored(one.id)).end).toEqual(one.end);
  });
});

describe("moveEnd() to an earlier moment", () => {
  test("takes access away from then on, on the host, in the record and by mail, and nothing before", async () => {
    const one = await person();
    const until = inDays(3);
    const answer = await extend(one, { until: until.toISOString(), reason: "The project is over" });
    expect([answer.status, answer.body.data]).toEqual([200, answerOf(until)]);
    expect(await stored(one.id)).toMatchObject({ status: "active", end: until });
    expect(app.host.accounts.get(one.account)).toMatchObject({ open: true, expireAt: until });
    expect(app.host.calls.at(-1)).toBe(`shortenAccount ${one.account}`);
    expect(await app.lastAudit("user.shorten")).toMatchObject({
      ...{ result: "success", subjectId: one.id, actorType: "admin" },
      detail: {
        ...{ username: one.username, reason: "The project is over" },
        ...{ old_expire_at: one.end.toISOString(), expire_at: until.toISOString() },
      },
    });
    const mail = (await app.mails(one.email)).at(-1);
    expect(mail?.subject).toContain("now ends on");
    expect(await app.db.select().from(closings)).toEqual([]);
    // The reminders are about the new end, once each, and none that the mail makes needless.
    app.clock.advance(2 * DAY);
    await runJobs();
    await runJobs();
    const since = (await app.mails(one.email)).map(({ subject }) => subject).slice(-2);
    expect(since).toEqual([mail?.subject ?? "", expect.stringContaining("ends within a day")]);
    app.clock.advance(DAY);
    await runJobs();
    expect(app.host.accounts.get(one.account)?.open).toBe(false);
  });

  test("leaves a disabled user disabled, and the host alone", async () => {
    const one = await person();
    await disableUser(app.system, one.id);
    const calls = app.host.calls.length;
    expect((await extend(one, { until: inDays(1).toISOString() })).status).toBe(200);
    expect(await stored(one.id)).toMatchObject({ status: "disabled", end: inDays(1) });
    expect(app.host.calls.slice(calls)).toEqual([]);
  });

  test("if the host refuses: is stored, owed, mailed, said and retried, and nothing gives it back meanwhile", async () => {
    const one = await person();
    const until = inDays(3);
    app.host.failing.add("shortenAccount");
    const answer = await extend(one, { until: until.toISOString() });
    expect([answer.status, answer.headers.get("uam-error")]).toEqual([500, "access.owed"]);
    expect(answer.body.error).toBe(
      `The new end of ${one.username} is stored, but the host alone may still let them in after it until this is done. Left to do, and tried again until it is done: The host refused: shortenAccount of ${one.account}`,
    );
    expect(await stored(one.id)).toMatchObject({ status: "active", end: until });
    expect((await app.lastAudit("user.shorten")).result).toBe("failed");
    expect((await app.mails("admin@example.org")).at(-1)?.subject).toContain(
      `bringing forward the end of ${one.username} is not finished`,
    );
    await finishClosings(app.services, "all");
    expect(await app.db.select().from(closings)).toHaveLength(1);
    app.host.failing.clear();
    app.clock.advance(HOUR);
    await finishClosings(app.services);
    expect([endOnHost(one), await app.db.select().from(closings)]).toEqual([until, []]);
    expect((await app.lastAudit("reconcile.repair")).detail).toMatchObject({
      done: "what was left of bringing forward the end of access",
    });
  });

  test("what is owed of it is dropped by a later end", async () => {
    const one = await person();
    app.host.failing.add("shortenAccount");
    await extend(one, { until: inDays(3).toISOString() });
    expect((await extend(one, { days: 5 })).status).toBe(200);
    expect([await app.db.select().from(closings), endOnHost(one)]).toEqual([[], (await stored(one.id)).end]);
  });

  test("a death of the process after the note: nothing opens for longer, and it is finished in the name of who asked", async () => {
    const one = await person();
    const until = inDays(3);
    await app.db.insert(closings).values({
      ...{ userId: one.id, kind: "shorten", expireAt: until, action: "user.shorten", reason: "It is over" },
      ...{ actorType: "admin", actor: "root-admin", begunAt: app.clock.now(), dueAt: app.clock.now() },
    });
    const again = await extend(one, { days: 5 });
    expect([again.status, again.headers.get("uam-error")]).toEqual([500, "user.shortening"]);
    const back = await extend(one, { until: inDays(4).toISOString() });
    expect([back.status, back.headers.get("uam-error")]).toEqual([500, "user.shortening"]);
    // What else writes the account has the earlier end.
    await disableUser(app.system, one.id);
    expect((await admin.call("POST", `/users/${one.id}/enable`)).status).toBe(200);
    expect([endOnHost(one), (await stored(one.id)).end]).toEqual([until, one.end]);
    await finishClosings(app.services, "all");
    expect([endOnHost(one), (await stored(one.id)).end]).toEqual([until, until]);
    expect(await app.db.select().from(closings)).toEqual([]);
    expect(await app.lastAudit("user.shorten")).toMatchObject({
      ...{ result: "success", actor: "root-admin" },
      detail: { reason: "It is over", expire_at: until.toISOString(), old_expire_at: one.end.toISOString() },
    });
  });

  test("one that is earlier still need not wait for that", async () => {
    const one = await person();
    await app.db.insert(closings).values({
      ...{ userId: one.id, kind: "shorten", expireAt: inDays(3), action: "user.shorten" },
      ...{ actorType: "admin", actor: "root-admin", begunAt: app.clock.now(), dueAt: app.clock.now() },
    });
    expect((await extend(one, { until: inDays(2).toISOString() })).status).toBe(200);
    expect([endOnHost(one), await app.db.select().from(closings)]).toEqual([inDays(2), []]);
  });

  test("if the database fails after the host: the caller learns it, and the end goes forward", async () => {
    const one = await person();
    const until = inDays(3);
    await app.alter(`create function refuse_users() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$;
      create trigger broken before update on users for each row execute function refuse_users()`);
    const answer = await extend(one, { until: until.toISOString() });
    expect([answer.status, answer.headers.get("uam-error")]).toEqual([500, "access.owed"]);
    expect(answer.body.error).toContain("It will not be put back");
    expect([endOnHost(one), (await stored(one.id)).end]).toEqual([until, one.end]);
    await app.alter("drop trigger broken on users; drop function refuse_users()");
    await finishClosings(app.services, "all");
    expect([(await stored(one.id)).end, await app.db.select().from(closings)]).toEqual([until, []]);
  });

  test("a caller who lost the permission meanwhile changes nothing", async () => {
    const one = await person();
    const gone = await app.admin();
    const onHost = endOnHost(one);
    const { asked } = await app.db.transaction(async (tx) => {
      await tx.select().from(users).where(eq(users.id, one.id)).for("update");
      const call = gone.call("POST", `/users/${one.id}/extend`, { until: inDays(1).toISOString() });
      await waitsForLock();
      await app.db.delete(sessions);
      return { asked: call };
    });
    expect((await asked).status).toBe(401);
    expect([(await stored(one.id)).end, endOnHost(one)]).toEqual([one.end, onHost]);
    expect(await app.db.select().from(closings)).toEqual([]);
    const records = (await recordsOf(one)).filter(({ action }) => action === "user.shorten");
    expect(records.map(({ result }) => result)).toEqual(["failed"]);
    admin = await app.admin();
  });
});

describe("moveEnd() at the same instant", () => {
  test.each([
    ["two earlier ones", [2, 3]],
    ["an earlier and a later one", [2, 400]],
    ["two later ones", [400, 401]],
  ])("%s: one after the other, and the host has what is stored", async (_, [first = 0, second = 0]) => {
    const one = await person();
    const ends = [inDays(first), inDays(second)];
    const moved = await Promise.all(ends.map((until) => moveEnd(app.system, one.id, { until })));
    const { end } = await stored(one.id);
    expect(ends.map(Number)).toContain(end.getTime());
    expect([endOnHost(one), moved.length]).toEqual([end, 2]);
    const records = (await recordsOf(one)).map(({ detail }) => JSON.parse(detail));
    expect(records).toHaveLength(2);
    expect(records[1].old_expire_at).toBe(records[0].expire_at);
    expect(records[1].expire_at).toBe(end.toISOString());
  });
});

describe("undoing what was just done", () => {
  test.each([
    ["a later end", "days"],
    ["an earlier end", "until"],
  ])("%s: by the answer, for as long as nothing else changed", async (_, field) => {
    const one = await person();
    const given = { [field]: field === "days" ? 9 : inDays(9).toISOString() };
    const undo = async () => {
      const asked = { ...given, unchanged_since: (await stored(one.id)).changed.toISOString() };
      const { old_expire_at: until, updated_at: unchanged_since } = (await extend(one, asked)).body.data;
      return { until, unchanged_since };
    };
    const first = await undo();
    app.clock.advance(MINUTE);
    expect((await extend(one, first)).status).toBe(200);
    expect([(await stored(one.id)).end, endOnHost(one)]).toEqual([one.end, one.end]);
    // Not twice, and not over what somebody else did meanwhile.
    expect((await extend(one, first)).headers.get("uam-error")).toBe("user.changed");
    const second = await undo();
    app.clock.advance(MINUTE);
    expect((await admin.call("PATCH", `/users/${one.id}`, { note: "Works nights" })).status).toBe(200);
    const { end } = await stored(one.id);
    for (const path of ["extend", "extend?preview=true"]) {
      const refused = await extend(one, second, path);
      expect([refused.status, refused.headers.get("uam-error")]).toEqual([409, "user.changed"]);
    }
    expect([(await stored(one.id)).end, endOnHost(one)]).toEqual([end, end]);
  });

  test("disabling, and enabling, too", async () => {
    const one = await person();
    let unchanged_since = (await stored(one.id)).changed.toISOString();
    for (const [path, open] of [
      ["disable", false],
      ["enable", true],
      ["disable", false],
    ] as const) {
      app.clock.advance(MINUTE);
      const answer = await extend(one, { unchanged_since }, path);
      expect([answer.status, app.host.accounts.get(one.account)?.open]).toEqual([200, open]);
      unchanged_since = answer.body.data.updated_at;
    }
    app.clock.advance(MINUTE);
    await admin.call("PATCH", `/users/${one.id}`, { purpose: "Another" });
    for (const path of ["enable", "enable?preview=true", "disable", "disable?preview=true"]) {
      const refused = await extend(one, { unchanged_since }, path);
      expect([refused.status, refused.headers.get("uam-error")]).toEqual([409, "user.changed"]);
    }
    expect((await extend(one, { unchanged_since: "yesterday" }, "enable")).status).toBe(400);
    expect((await stored(one.id)).status).toBe("disabled");
  });
});

describe("previewExtend()", () => {
  test("says what an earlier end takes away, and when", async () => {
    const one = await person();
    const until = inDays(3);
    const calls = app.host.calls.length;
    const { body } = await extend(one, { until: until.toISOString() }, "extend?preview=true");
    const moment = (date: Date) => `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
    expect(body.data).toEqual({
      preview: true,
      status: "active",
      expire_at: until.toISOString(),
      effects: [
        `${one.username} keeps access until ${moment(until)} only, instead of ${moment(one.end)}.`,
        "1 key stops working then: laptop.",
        `What runs under ${one.account} goes on until then, and ends then.`,
        `${one.email} gets a mail.`,
      ],
      host: [`would shortenAccount ${one.account}`],
    });
    expect([(await stored(one.id)).end, app.host.calls.slice(calls)]).toEqual([one.end, []]);
  });
});

async function waitsForLock(): Promise<void> {
  const waiting = `select 1 as one from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  for (;;) {
    if ((await app.db.execute(waiting)).length > 0) return;
    await Bun.sleep(5);
  }
}
