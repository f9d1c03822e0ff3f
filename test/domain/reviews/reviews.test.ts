/** Reviews: each user is answered for in time or loses their access, and nobody who was answered for does. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { setUserHosts } from "../../../src/domain/hosts/grants.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { beat, endHold } from "../../../src/domain/lifecycle/heartbeat.ts";
import { answerItems } from "../../../src/domain/reviews/answer.ts";
import { finishAnswers } from "../../../src/domain/reviews/carry-out.ts";
import { workOnReviews } from "../../../src/domain/reviews/due.ts";
import { startReview } from "../../../src/domain/reviews/start.ts";
import { createUser, deleteUser } from "../../../src/domain/users/users.ts";
import { DAY, HOUR } from "../../../src/shared/time/clock.ts";
import { hosts, removedAccounts } from "../../../src/store/schema-fleet.ts";
import { reviewItems, reviews } from "../../../src/store/schema-reviews.ts";
import { type Answer, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { insertHost } from "../../support/host-rows.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
});
afterAll(() => app.close());

const fresh = (what: string) => `${what}-${++count}`;
const reasonOf = ({ status, headers }: Answer) => `${status} ${headers.get("uam-error")}`;
const isOpen = (username: string) => app.host.accounts.get(`ext_${username}`)?.open;
const read = async (id: number) => (await admin.call("GET", `/reviews/${id}`)).body.data;
const items = async (id: number) => (await admin.call("GET", `/reviews/${id}/items`)).body.data.items;
const answer = (id: number, userId: number, body: object, by = admin) =>
  by.call("POST", `/reviews/${id}/items/${userId}`, body);

/** A company of its own with some users, and a review of them. */
async function review(users: number, unanswered: "disable" | "report" = "disable") {
  const company = (await admin.call("POST", "/companies", { name: fresh("Lindqvist") })).body.data.id as number;
  const made = [];
  for (let n = 0; n < users; n++) {
    const username = fresh("user");
    made.push(await createUser(app.system, { username, email: `${username}@example.org`, companyId: company }));
  }
  const started = await admin.call("POST", "/reviews", { scope: { company }, due_days: 14, unanswered });
  expect(started.status).toBe(201);
  return { id: started.body.data.id as number, company, users: made };
}

/** The minute's job after that time, with the clock beyond doubt. */
async function pass(time: number) {
  app.clock.advance(time);
  await due();
  // Sessions do not last as long.
  admin = await app.admin();
}

const due = async () => await workOnReviews(app.services, await endHold(app.services));
const storedItem = async (id: number, userId: number) =>
  (
    await app.db
      .select()
      .from(reviewItems)
      .where(and(eq(reviewItems.reviewId, id), eq(reviewItems.userId, userId)))
  )[0];

describe("startReview()", () => {
  test("is about each user of the scope who can have access, and about nobody who comes later", async () => {
    const { id, company, users } = await review(3);
    const [first] = users;
    await createUser(app.system, { username: fresh("late"), email: "late@example.org", companyId: company });
    expect(await read(id)).toEqual({
      ...{ id, scope: { company }, scope_name: `Lindqvist-${count - 4}`, status: "open" },
      ...{ started_at: app.clock.now().toISOString(), closed_at: null, unanswered_way: "disable" },
      due_at: new Date(app.clock.now().getTime() + 14 * DAY).toISOString(),
      ...{ total: 3, kept: 0, ended: 0, shortened: 0, unanswered: 3 },
    });
    const [item] = await items(id);
    expect(item).toMatchObject({ user_id: first?.id, username: first?.username, answer: null, record: null });
    expect(item.evidence).toMatchObject({ status: "active", created_by: "operator", logins: 0, hosts: ["local"] });
    expect(await app.lastAudit("review.start")).toMatchObject({
      ...{ resourceId: String(id), actor: "admin", result: "success", detail: { users: 3, unanswered: "disable" } },
    });
  });

  test("says of a host that was taken away that it still has the account, until it has removed it", async () => {
    const name = fresh("web");
    const { id: hostId } = await insertHost(app, name, { groups: ["default"], appliedId: 0 });
    const { company, users } = await review(2);
    const [moved, other] = users;
    await setUserHosts(app.system, moved?.id ?? 0, { hosts: ["local"], groups: [] });
    const drift = async () => {
      const { body } = await admin.call("POST", "/reviews", { scope: { company }, due_days: 14 });
      const found = await items(body.data.id);
      return [moved, other].map((user) => found.find((one: { user_id: number }) => one.user_id === user?.id).evidence);
    };
    const [taken, kept] = await drift();
    expect(taken).toMatchObject({ hosts: ["local"] });
    expect(taken.drift).toEqual([`${name}: taken away, and the account is not removed there yet`]);
    expect(kept).toMatchObject({ hosts: ["local", name], drift: [] });
    await app.db.update(hosts).set({ appliedId: 1e12 }).where(eq(hosts.id, hostId));
    expect((await drift())[0].drift).toEqual([]);
    await app.db.delete(removedAccounts);
    await app.db.delete(hosts).where(eq(hosts.id, hostId));
  });

  test("says before whom it would ask about, and begins nothing by that", async () => {
    const { company, users } = await review(4);
    const [disabled, own, other] = users.map((user) => user.id) as [number, number, number];
    await admin.call("POST", `/users/${disabled}/disable`);
    for (const id of [own, other]) await admin.call("PATCH", `/users/${id}`, { sponsor_email: "bo@example.org" });
    const begun = async () => (await admin.call("GET", "/reviews")).body.data.total;
    const before = await begun();
    const ask = (query: string) => admin.call("GET", `/reviews/preview${query}`);
    expect((await ask(`?company=${company}`)).body.data).toEqual({ total: 3, sponsors: 1, sponsored: 2 });
    expect((await ask("?sponsor=bo@example.org")).body.data).toEqual({ total: 2, sponsors: 1, sponsored: 2 });
    expect((await ask("")).body.data.total).toBeGreaterThan(3);
    expect(reasonOf(await ask("?company=99999"))).toBe("400 company.missing");
    expect((await ask(`?company=${company}&host_group=1`)).status).toBe(400);
    expect(await begun()).toBe(before);
  });

  test("leaves out who has no access, and refuses a review of nobody", async () => {
    const { company, users } = await review(2);
    await admin.call("POST", `/users/${users[0]?.id}/disable`);
    const { body } = await admin.call("POST", "/reviews", { scope: { company } });
    expect(body.data.total).toBe(1);
    await admin.call("POST", `/users/${users[1]?.id}/disable`);
    expect(reasonOf(await admin.call("POST", "/reviews", { scope: { company } }))).toBe("409 review.empty");
    for (const scope of ["some", { company: 1, sponsor: "bo@example.org" }, { compani: 1 }, {}, null]) {
      expect((await admin.call("POST", "/reviews", { scope })).status).toBe(400);
    }
    expect(reasonOf(await admin.call("POST", "/reviews", { scope: { company: 99_999 } }))).toBe("400 company.missing");
    for (const due_days of [0, 366, 1.5]) {
      expect((await admin.call("POST", "/reviews", { scope: { company }, due_days })).status).toBe(400);
    }
  });
});

describe("answerItems()", () => {
  test("keeps, ends and shortens, each on record with the evidence of that moment, and closes by itself", async () => {
    const { id, users } = await review(3);
    const [kept, ended, shortened] = users.map((user) => user.id) as [number, number, number];
    expect((await answer(id, kept, { answer: "keep" })).body.data).toMatchObject({
      ...{ answer: "keep", answered_by: "admin", answered_by_type: "admin", evidence: { status: "active" } },
    });
    expect((await answer(id, ended, { answer: "end", reason: "Left" })).status).toBe(200);
    expect(isOpen(users[1]?.username ?? "")).toBe(false);
    expect(await app.lastAudit("user.disable")).toMatchObject({
      ...{ resourceId: String(ended), actor: "admin", detail: { reason: "Left", status: "disabled", review: id } },
    });
    const until = new Date(app.clock.now().getTime() + 5 * DAY).toISOString();
    expect((await answer(id, shortened, { answer: "shorten", until })).status).toBe(200);
    expect((await admin.call("GET", `/users/${shortened}`)).body.data.expire_at).toBe(until);
    expect(isOpen(users[0]?.username ?? "")).toBe(true);
    expect(await read(id)).toMatchObject({
      status: "closed",
      total: 3,
      kept: 1,
      ended: 1,
      shortened: 1,
      unanswered: 0,
    });
    const records = (await app.auditRows("review.answer")).slice(-3);
    const stored = await items(id);
    expect(records.map((record) => record.id)).toEqual(stored.map(({ record }: { record: number }) => record));
    expect(JSON.parse(records[1]?.detail ?? "")).toMatchObject({ answer: "end", reason: "Left" });
    expect(await app.lastAudit("review.close")).toMatchObject({ actor: "system", detail: { kept: 1, unanswered: 0 } });
    // A closed review never changes.
    expect(reasonOf(await answer(id, kept, { answer: "end" }))).toBe("409 review.closed");
    expect(await items(id)).toEqual(stored);
  });

  test("of two at the same instant counts one", async () => {
    const { id, users } = await review(2);
    const [user] = users.map((one) => one.id) as [number];
    const answers = await Promise.all([
      answer(id, user, { answer: "keep" }),
      answer(id, user, { answer: "end" }),
      answer(id, user, { answer: "keep" }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const { answer: stored } = (await storedItem(id, user)) ?? {};
    expect((await admin.call("GET", `/users/${user}`)).body.data.status).toBe(stored === "end" ? "disabled" : "active");
    const given = (await app.auditRows("review.answer")).filter(
      ({ subjectId, result, resourceId }) => subjectId === user && result === "success" && resourceId === String(id),
    );
    expect(given).toHaveLength(1);
  });

  test("refuses what cannot be, and changes nothing by that", async () => {
    const { id, users } = await review(1);
    const [user] = users.map((one) => one.id) as [number];
    const far = new Date(app.clock.now().getTime() + 365 * DAY).toISOString();
    const past = new Date(app.clock.now().getTime() - DAY).toISOString();
    const refused = [
      { answer: "maybe" },
      { answer: "keep", until: far },
      { answer: "shorten" },
      { answer: "shorten", until: far },
      { answer: "shorten", until: past },
      { answer: "grace" },
      { answer: "grace", until: far },
      { answer: "keep", reson: "typed" },
    ];
    for (const body of refused) expect((await answer(id, user, body)).status).toBe(400);
    expect(reasonOf(await answer(id, 999_999, { answer: "keep" }))).toBe("404 review.missing");
    expect(reasonOf(await answer(999_999, user, { answer: "keep" }))).toBe("404 review.missing");
    expect((await items(id))[0]).toMatchObject({ answer: null, record: null });
  });

  test("several at once need a reason, and are stored all or none", async () => {
    const { id, users } = await review(3);
    const all = users.map((user) => ({ userId: user.id, answer: "end" as const, reason: "The project is over" }));
    await expect(
      answerItems(
        app.system,
        id,
        all.map(({ userId }) => ({ userId, answer: "keep" })),
      ),
    ).rejects.toThrow("Several answers at once need a reason");
    await answerItems(app.system, id, all.slice(0, 1));
    await expect(answerItems(app.system, id, all)).rejects.toMatchObject({ reason: "review.answered" });
    expect(await read(id)).toMatchObject({ ended: 1, unanswered: 2, status: "open" });
    await answerItems(app.system, id, all.slice(1));
    expect(await read(id)).toMatchObject({ ended: 3, status: "closed" });
    expect(users.map(({ username }) => isOpen(username))).toEqual([false, false, false]);
  });

  test("several at once by the API are one answer with a reason for all of them, and for nobody else", async () => {
    const { id, users } = await review(4);
    const ids = users.map((user) => user.id) as [number, number, number, number];
    const several = (body: object) => admin.call("POST", `/reviews/${id}/items`, body);
    const until = new Date(app.clock.now().getTime() + 5 * DAY).toISOString();
    for (const body of [
      { users: ids, answer: "keep" },
      { users: [], answer: "keep", reason: "All of them" },
      { users: [ids[0], ids[0]], answer: "keep", reason: "Twice" },
      { users: ids, answer: "keep", reason: "All", until },
      { users: ids, answer: "keep", reason: "All", usrs: [] },
      { users: Array.from({ length: 1001 }, (_, n) => n + 1), answer: "keep", reason: "Many" },
    ]) {
      expect((await several(body)).status).toBe(400);
    }
    expect(reasonOf(await several({ users: [...ids, 999_999], answer: "end", reason: "All" }))).toBe(
      "404 review.missing",
    );
    expect(await read(id)).toMatchObject({ unanswered: 4 });
    const first = await several({ users: [ids[0]], answer: "keep" });
    expect(first.body.data).toMatchObject({ id, kept: 1, unanswered: 3 });
    expect(reasonOf(await several({ users: ids, answer: "end", reason: "All" }))).toBe("409 review.answered");
    expect(users.map(({ username }) => isOpen(username))).toEqual([true, true, true, true]);
    await several({ users: [ids[1]], answer: "shorten", until });
    const rest = await several({ users: ids.slice(2), answer: "end", reason: "The project is over" });
    expect(rest.body.data).toMatchObject({ status: "closed", kept: 1, ended: 2, shortened: 1 });
    expect(users.map(({ username }) => isOpen(username))).toEqual([true, true, false, false]);
  });

  test.each(["ADMIN@example.org", "ad.min+ssh@example.org"])("is nobody's for themselves, as %s", async (email) => {
    const { id, company } = await review(1);
    const username = fresh("both");
    const { id: self } = await createUser(app.system, { username, email, companyId: company });
    const own = (await admin.call("POST", "/reviews", { scope: { company } })).body.data.id;
    expect(reasonOf(await answer(own, self, { answer: "keep" }))).toBe("403 review.self");
    expect((await storedItem(own, self))?.answer).toBeNull();
    expect(id).toBeLessThan(own);
  });

  test("that was cut short is carried out by the minute's job, in the name of whoever answered", async () => {
    const { id, users } = await review(2);
    const [user] = users.map((one) => one.id) as [number];
    const by = { answeredByType: "token", answeredBy: "nightly", answeredByOwner: "admin" } as const;
    await app.db
      .update(reviewItems)
      .set({ answer: "end", pending: true, reason: "Left", answeredAt: app.clock.now(), ...by })
      .where(and(eq(reviewItems.reviewId, id), eq(reviewItems.userId, user)));
    await Promise.all([finishAnswers(app.services), finishAnswers(app.services)]);
    expect(isOpen(users[0]?.username ?? "")).toBe(false);
    expect(await app.lastAudit("user.disable")).toMatchObject({
      ...{ subjectId: user, actorType: "token", actor: "nightly", detail: { reason: "Left" } },
    });
    expect((await storedItem(id, user))?.pending).toBe(false);
  });

  test("whose closing is finished from its note names the review in the record that follows", async () => {
    const { id, users } = await review(2);
    const [ended, shorter] = users.map((one) => one.id) as [number, number];
    const by = { answeredByType: "admin", answeredBy: "admin", answeredAt: app.clock.now(), pending: true } as const;
    const answers = [
      { userId: ended, answer: "end", until: null },
      { userId: shorter, answer: "shorten", until: new Date(app.clock.now().getTime() + DAY) },
    ] as const;
    for (const { userId, ...given } of answers) {
      const item = and(eq(reviewItems.reviewId, id), eq(reviewItems.userId, userId));
      await app.db
        .update(reviewItems)
        .set({ ...given, ...by, reason: "Left" })
        .where(item);
    }
    await app.alter("alter function audit_append rename to audit_append_away");
    await finishAnswers(app.services);
    await app.alter("alter function audit_append_away rename to audit_append");
    await finishClosings(app.services, "all");
    for (const [action, subjectId] of [
      ["user.disable", ended],
      ["user.shorten", shorter],
    ] as const) {
      const detail = { reason: "Left", review: id };
      expect(await app.lastAudit(action)).toMatchObject({ subjectId, actor: "admin", result: "success", detail });
    }
    await finishAnswers(app.services);
    expect([await storedItem(id, ended), await storedItem(id, shorter)]).toMatchObject([
      { pending: false },
      { pending: false },
    ]);
  });
});

describe("workOnReviews()", () => {
  test("disables on the day whoever is not answered for, and nobody else", async () => {
    const { id, users } = await review(3);
    await answer(id, users[0]?.id ?? 0, { answer: "keep" });
    await pass(14 * DAY - HOUR);
    expect(users.map(({ username }) => isOpen(username))).toEqual([true, true, true]);
    await pass(HOUR);
    expect(users.map(({ username }) => isOpen(username))).toEqual([true, false, false]);
    expect(await read(id)).toMatchObject({ status: "closed", kept: 1, unanswered: 2 });
    expect(await app.lastAudit("user.disable")).toMatchObject({
      ...{ actorType: "system", detail: { reason: "review", status: "disabled", review: id } },
    });
    const records = (await app.auditRows("review.unanswered")).slice(-2);
    expect(records.map(({ subjectId }) => subjectId)).toEqual([users[1]?.id ?? 0, users[2]?.id ?? 0]);
    expect((await items(id))[2]).toMatchObject({ answer: "unanswered", evidence: { status: "active" } });
  });

  test("only lists where the review says so", async () => {
    const { id, users } = await review(2, "report");
    await pass(14 * DAY);
    expect(users.map(({ username }) => isOpen(username))).toEqual([true, true]);
    expect(await read(id)).toMatchObject({ status: "closed", unanswered: 2 });
  });

  test("waits while the clock is doubtful, and an operator ends the wait", async () => {
    const { id, users } = await review(1);
    app.clock.advance(15 * DAY);
    await workOnReviews(app.services, await beat(app.services));
    admin = await app.admin();
    expect(isOpen(users[0]?.username ?? "")).toBe(true);
    expect(await read(id)).toMatchObject({ status: "open" });
    await due();
    expect(isOpen(users[0]?.username ?? "")).toBe(false);
    expect(await read(id)).toMatchObject({ status: "closed", unanswered: 1 });
  });

  test("lets an answer wait as long as an administrator says, and no longer", async () => {
    const { id, users } = await review(2);
    const [user] = users.map((one) => one.id) as [number];
    const until = new Date(app.clock.now().getTime() + 16 * DAY).toISOString();
    expect((await answer(id, user, { answer: "grace", until })).body.data).toMatchObject({
      ...{ answer: null, grace_until: until },
    });
    await pass(14 * DAY);
    expect(users.map(({ username }) => isOpen(username))).toEqual([true, false]);
    expect(await read(id)).toMatchObject({ status: "open", unanswered: 2 });
    await pass(2 * DAY);
    expect(isOpen(users[0]?.username ?? "")).toBe(false);
    expect(await read(id)).toMatchObject({ status: "closed", unanswered: 2 });
  });

  test("leaves what was answered as it is, also where it was let wait once, in this review or another", async () => {
    const { id, users, company } = await review(2);
    const [kept, waiting] = users.map((one) => one.id) as [number, number];
    const until = (days: number) => new Date(app.clock.now().getTime() + days * DAY).toISOString();
    await answer(id, kept, { answer: "grace", until: until(15) });
    await answer(id, waiting, { answer: "grace", until: until(20) });
    await answer(id, kept, { answer: "keep" });
    await pass(16 * DAY);
    const other = (await admin.call("POST", "/reviews", { scope: { company }, due_days: 1 })).body.data.id;
    await answer(other, kept, { answer: "keep", reason: "Still here" });
    await pass(2 * DAY);
    expect((await items(id)).map((item: { answer: string }) => item.answer)).toEqual(["keep", null]);
    expect((await items(other)).map((item: { answer: string }) => item.answer)).toEqual(["keep", "unanswered"]);
    expect(users.map(({ username }) => isOpen(username))).toEqual([true, false]);
    await answer(id, waiting, { answer: "keep" });
  });

  test("takes nothing from users who are gone, and stays right for those who are extended meanwhile", async () => {
    const { id, users } = await review(3);
    const [deleted, disabled, extended] = users.map((one) => one.id) as [number, number, number];
    await deleteUser(app.system, deleted);
    await admin.call("POST", `/users/${disabled}/disable`);
    await admin.call("POST", `/users/${extended}/extend`, { days: 100 });
    await pass(HOUR);
    expect((await items(id)).map((item: { answer: string }) => item.answer)).toEqual(["gone", null, null]);
    expect((await answer(id, deleted, { answer: "keep" })).status).toBe(409);
    const before = (await app.auditRows("user.disable")).length;
    await pass(14 * DAY);
    expect(await read(id)).toMatchObject({ status: "closed", ended: 2, unanswered: 1 });
    expect((await app.auditRows("user.disable")).length).toBe(before + 1);
    expect(isOpen(users[2]?.username ?? "")).toBe(false);
  });

  test("reminds 7, 3 and 1 days before, each once", async () => {
    const { id } = await review(2);
    const mails = async () =>
      (await app.mails("admin@example.org")).filter(({ subject }) => subject.includes("left to answer for")).length;
    const before = await mails();
    const seen = [];
    for (let day = 0; day < 13; day++) {
      await pass(DAY);
      await due();
      seen.push((await mails()) - before);
    }
    expect(seen).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3]);
    await admin.call("POST", `/reviews/${id}/close`, { unanswered: "report" });
  });

  test("begins one of everybody by itself as often as the setting says", async () => {
    const all = async () => (await app.db.select().from(reviews).where(eq(reviews.scope, "all"))).length;
    await pass(HOUR);
    const before = await all();
    await admin.call("PUT", "/settings", { key: "policy.review_every", value: "30d" });
    await pass(29 * DAY);
    expect(await all()).toBe(before);
    await pass(DAY);
    await pass(HOUR);
    expect(await all()).toBe(before + 1);
    expect(await app.lastAudit("review.start")).toMatchObject({ actorType: "system", detail: { scope: "all" } });
    await admin.call("DELETE", "/settings/policy.review_every");
    const [last] = (await admin.call("GET", "/reviews")).body.data.items;
    await admin.call("POST", `/reviews/${last.id}/close`, { unanswered: "report" });
  });
});

describe("closeReview()", () => {
  test("by hand says first what is to happen to those who are not answered for", async () => {
    const { id, users } = await review(2);
    expect(reasonOf(await admin.call("POST", `/reviews/${id}/close`))).toBe("409 review.open");
    expect(isOpen(users[0]?.username ?? "")).toBe(true);
    const { body } = await admin.call("POST", `/reviews/${id}/close`, { unanswered: "disable" });
    expect(body.data).toMatchObject({ status: "closed", unanswered: 2 });
    expect(users.map(({ username }) => isOpen(username))).toEqual([false, false]);
    expect(await app.lastAudit("review.close")).toMatchObject({ actor: "admin", resourceId: String(id) });
    expect(await app.lastAudit("user.disable")).toMatchObject({ actor: "admin", detail: { reason: "review" } });
  });

  test("is no close twice", async () => {
    const { id } = await review(1);
    const close = () => admin.call("POST", `/reviews/${id}/close`, { unanswered: "report" });
    const closes = await Promise.all([close(), close()]);
    expect(closes.some(({ status }) => status === 200)).toBe(true);
    const records = (await app.auditRows("review.close")).filter(
      ({ resourceId, result }) => resourceId === String(id) && result === "success",
    );
    expect(records).toHaveLength(1);
  });
});

test("a review of everybody is about users of no company, too", async () => {
  const started = await startReview(app.system, { scope: "all", dueDays: 1, unanswered: "report" });
  expect(started.counts.total).toBeGreaterThan(0);
});
