import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { allAccounts } from "../../../src/domain/accounts/account.ts";
import { requestAccess } from "../../../src/domain/approvals/access-requests.ts";
import { listApplications, reviewApplication } from "../../../src/domain/approvals/approvals.ts";
import { createCompany } from "../../../src/domain/companies/companies.ts";
import { updateCompany } from "../../../src/domain/companies/update.ts";
import { decide, lookAt } from "../../../src/domain/decisions/decisions.ts";
import { uploadKey } from "../../../src/domain/keys/keys.ts";
import { boundTimesToCome } from "../../../src/domain/lifecycle/clock-set-back.ts";
import { followDueHours } from "../../../src/domain/lifecycle/hours.ts";
import { askWaitingSponsors } from "../../../src/domain/sponsors/asking.ts";
import { followSponsors } from "../../../src/domain/sponsors/following.ts";
import { moveSponsor } from "../../../src/domain/sponsors/moving.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { createUser, deleteUser, disableUser, enableUser, type NewUser } from "../../../src/domain/users/users.ts";
import type { OnRequest } from "../../../src/shared/hours/on-request.ts";
import { parseHours } from "../../../src/shared/hours/text.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../../src/shared/time/clock.ts";
import { approvals, closings, outbox, users } from "../../../src/store/schema.ts";
import { questions } from "../../../src/store/schema-auth.ts";
import { createTestApp, loginUser, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let name: string;
let id: number;
let token: string;
let count = 0;

const SELF: OnRequest = { rule: "self", maxHours: 4 };
const REVIEW: OnRequest = { rule: "review", maxHours: 4 };
const SPONSOR: OnRequest = { rule: "sponsor", maxHours: 4 };

beforeAll(async () => {
  app = await createTestApp();
  await app.admin();
});
afterAll(() => app.close());
beforeEach(async () => {
  app.host.failing.clear();
  app.host.sessionsOpen.length = 0;
  for (const table of [users, closings, approvals, outbox, questions]) await app.db.delete(table);
  app.host.accounts.clear();
  // A Friday in winter: Berlin is at 11:00.
  app.clock.set(new Date("2026-11-27T10:00:00Z"));
});

async function make(input: Partial<NewUser>): Promise<void> {
  name = `asker-${++count}`;
  ({ id } = await createUser(app.system, { username: name, email: `${name}@example.org`, ...input }));
  await uploadKey(app.system, id, { name: "k", publicKey: freshKey() });
  await login();
}

async function login(): Promise<void> {
  const client = await loginUser(app.system, app.app, name);
  token = decodeURIComponent(client.cookie.slice(client.cookie.indexOf("=") + 1));
}

const ask = (hours = 2, reason = "Deploy") => {
  const context = { ...app.system, actor: { type: "user", name, ip: "192.0.2.7" } as const };
  return requestAccess(context, { userId: id, token }, { hours, reason });
};
const account = () => app.host.accounts.get(`ext_${name}`);
const row = async () => (await app.db.select().from(users).where(eq(users.id, id)))[0];
const records = async (action: string) =>
  (await app.auditRows(action))
    .filter(({ subjectId }) => subjectId === id)
    .map(({ result, actorType }) => [result, actorType]);
const at = (text: string) => app.clock.set(new Date(text));
const follow = () => followDueHours(app.services, app.config.dataDir);
const expectShut = () => expect(account()).toMatchObject({ open: false, file: [] });
const expectAsWanted = async () => {
  const wanted = (await allAccounts(app.services.db, app.clock.now())).find((one) => one.name === `ext_${name}`);
  expect(account()?.open).toBe(wanted?.open as boolean);
};
const subjects = async () => (await app.mails(`${name}@example.org`)).map(({ subject }) => subject);
/** The request that waits. */
const waiting = async () =>
  (await listApplications(app.system, { status: "pending" }, { page: 1, pageSize: 9 })).items[0];
const review = async (approve: boolean) =>
  reviewApplication(app.system, (await waiting())?.id ?? 0, { approve, ...(approve ? {} : { reason: "Not now" }) });

describe("a user whose access is on request", () => {
  test("has a shut account without a line until it is allowed, and needs no look by the clock", async () => {
    await make({ onRequest: SELF });
    expectShut();
    expect(await row()).toMatchObject({ requestRule: "self", requestHours: 4, hoursDueAt: null });
    app.clock.advance(DAY);
    await follow();
    expectShut();
    await expectAsWanted();
  });

  test.each([0, 1.5, -1, 169])("cannot be given %d hours", async (maxHours) => {
    await expect(make({ onRequest: { rule: "self", maxHours } })).rejects.toThrow("max_hours must be");
  });
});

describe("requestAccess() by the rule self", () => {
  test("opens at once for those hours, says so by mail, and shuts with sessions at the end", async () => {
    await make({ onRequest: SELF });
    expect(await ask(2)).toEqual({ until: new Date("2026-11-27T12:00:00Z") });
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-11-27T12:00:00Z") });
    expect(account()?.file).toHaveLength(1);
    expect(await records("access.request")).toEqual([["success", "user"]]);
    expect(await records("access.allow")).toEqual([["success", "user"]]);
    expect((await app.lastAudit("access.allow")).detail).toMatchObject({ hours: 2, until: "2026-11-27T12:00:00.000Z" });
    expect((await subjects()).at(-1)).toContain("is open until 27 November 2026, 12:00 UTC");
    at("2026-11-27T11:59:59.999Z");
    await follow();
    expect(account()?.open).toBe(true);
    const session = { id: "1", since: app.clock.now(), from: "192.0.2.1", fingerprint: undefined };
    app.host.sessionsOpen.push({ ...session, account: `ext_${name}` });
    at("2026-11-27T12:00:00Z");
    await follow();
    expectShut();
    expect(await records("access.window")).toEqual([["success", "system"]]);
    expect((await row())?.hoursDueAt).toBeNull();
  });

  test("in a session older than 15 minutes is refused, also if the clock was set back", async () => {
    await make({ onRequest: SELF });
    app.clock.advance(15 * MINUTE);
    expect(await ask(1)).toMatchObject({ until: new Date("2026-11-27T11:15:00Z") });
    app.clock.advance(MINUTE);
    await expect(ask(2)).rejects.toMatchObject({ code: "conflict", reason: "access.fresh_login" });
    at("2026-11-27T09:00:00Z");
    await expect(ask(2)).rejects.toMatchObject({ reason: "access.fresh_login" });
    token = "bm90IGEgdG9rZW4";
    await expect(ask(2)).rejects.toMatchObject({ reason: "access.fresh_login" });
    expect((await records("access.request")).map(([result]) => result)).toEqual([
      "success",
      "failed",
      "failed",
      "failed",
    ]);
  });

  test("prolongs from the end of what is allowed, at most to the rule's hours from now; less than a minute is none", async () => {
    await make({ onRequest: SELF });
    await ask(1);
    app.clock.advance(10 * MINUTE);
    expect(await ask(2)).toEqual({ until: new Date("2026-11-27T13:00:00Z") });
    expect(await ask(4)).toEqual({ until: new Date("2026-11-27T14:10:00Z") });
    app.clock.advance(30 * SECOND);
    expect(await ask(4)).toEqual({ until: new Date("2026-11-27T14:10:00Z") });
    expect(await records("access.allow")).toHaveLength(3);
    expect(account()?.expireAt).toEqual(new Date("2026-11-27T14:10:00Z"));
    expect(app.host.calls.filter((call) => call === `shutAccount ext_${name}`)).toHaveLength(1);
  });

  test("never reaches beyond the hours of the week or the end of the account", async () => {
    await make({ onRequest: SELF, hours: parseHours("fri 08:00-12:30 Europe/Berlin") });
    expect(await ask(4)).toEqual({ until: new Date("2026-11-27T11:30:00Z") });
    await make({ onRequest: SELF, expireAt: new Date("2026-11-27T10:30:00Z") });
    expect(await ask(4)).toEqual({ until: new Date("2026-11-27T10:30:00Z") });
  });

  test.each([
    [
      { onRequest: SELF, hours: parseHours("sat 08:00-18:00 Europe/Berlin") },
      1,
      "access.outside_hours",
      "28 November 2026, 07:00",
    ],
    [
      { onRequest: SELF, startsAt: new Date("2026-12-01T07:00:00Z") },
      1,
      "access.outside_hours",
      "1 December 2026, 07:00",
    ],
    [{ onRequest: SELF }, 5, "access.limit", "at most 4 hours"],
    [{}, 1, "access.not_on_request", "need not ask"],
  ] as const)("refuses %j for %d hours", async (input, hours, reason, sentence) => {
    await make(input);
    await expect(ask(hours)).rejects.toMatchObject({ code: "conflict", reason });
    await expect(ask(hours)).rejects.toThrow(sentence);
    expect(await records("access.allow")).toEqual([]);
  });

  test("ten at the same instant end in one window, and the account as stored", async () => {
    await make({ onRequest: SELF });
    await Promise.all(Array.from({ length: 10 }, () => ask(1)));
    // Each begins where the one before ended, and the rule's hours are the limit.
    expect((await row())?.allowedUntil).toEqual(new Date("2026-11-27T14:00:00Z"));
    expect(account()?.expireAt).toEqual(new Date("2026-11-27T14:00:00Z"));
    await expectAsWanted();
  });

  test("changes nothing and is on record as failed if the host refuses", async () => {
    await make({ onRequest: SELF });
    app.host.failing.add("openAccount");
    await expect(ask(1)).rejects.toThrow("The host refused");
    app.host.failing.clear();
    expect(await row()).toMatchObject({ allowedUntil: null, hoursDueAt: null });
    expectShut();
    expect(await records("access.request")).toEqual([["failed", "user"]]);
    expect(await records("access.allow")).toEqual([["failed", "user"]]);
  });

  test("ends first what an earlier window left behind", async () => {
    await make({ onRequest: SELF });
    await ask(1);
    app.clock.advance(2 * HOUR);
    await login();
    app.host.calls.length = 0;
    await ask(1);
    const changes = app.host.calls.filter((call) => /^(shut|open)Account/.test(call));
    expect(changes).toEqual([`shutAccount ext_${name}`, `openAccount ext_${name}`]);
  });
});

describe("what was allowed", () => {
  beforeEach(async () => {
    await make({ onRequest: SELF });
    await ask(4);
  });

  test("does not come back when a disabled user is enabled", async () => {
    await disableUser(app.system, id);
    await enableUser(app.system, id);
    expectShut();
    await expectAsWanted();
  });

  test("is shut at the start of a service that was stopped over its end", async () => {
    app.clock.advance(7 * HOUR);
    await expectAsWanted().catch(() => undefined);
    await follow();
    expectShut();
  });

  test("is gone once the clock is set back to before the allowing, and does not come again with the time", async () => {
    at("2026-11-26T10:00:00Z");
    await app.db.transaction((tx) => boundTimesToCome(tx, app.services.policy, app.clock.now()));
    await follow();
    expectShut();
    at("2026-11-27T11:00:00Z");
    await follow();
    expectShut();
    await expectAsWanted();
  });

  test("is cut by fewer hours, ends with another start of the rule, and none opens for good", async () => {
    await updateUser(app.system, id, { onRequest: { rule: "self", maxHours: 1 } });
    expect(account()?.expireAt).toEqual(new Date("2026-11-27T11:00:00Z"));
    expect((await app.lastAudit("user.update")).detail).toMatchObject({
      on_request: "self:1h",
      old_on_request: "self:4h",
    });
    const { expireAt } = await updateUser(app.system, id, { onRequest: null });
    expect(account()).toMatchObject({ open: true, expireAt });
    await updateUser(app.system, id, { onRequest: SELF });
    expectShut();
  });
});

describe("requestAccess() by the rule review", () => {
  beforeEach(() => make({ onRequest: REVIEW }));

  test("waits in the queue of applications, tells the administrators, and counts from the allowing", async () => {
    app.clock.advance(DAY);
    const { request } = await ask(2);
    expect(request).toMatchObject({
      kind: "access_request",
      hours: 2,
      userId: id,
      purpose: "Deploy",
      status: "pending",
    });
    expectShut();
    expect((await app.mails("admin@example.org")).at(-1)?.subject).toContain(`${name} asks for access`);
    app.clock.advance(HOUR);
    await review(true);
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-11-28T13:00:00Z") });
    expect(await records("access.allow")).toEqual([["success", "cli"]]);
    await expect(reviewApplication(app.system, request?.id ?? 0, { approve: true })).rejects.toMatchObject({
      reason: "application.reviewed",
    });
  });

  test("is refused with a reason, which is mailed", async () => {
    await ask(2);
    await review(false);
    expectShut();
    expect(await records("access.refuse")).toEqual([["success", "cli"]]);
    expect((await app.mails(`${name}@example.org`)).at(-1)?.text).toContain("Not now");
  });

  test("is one at a time, also at the same instant", async () => {
    const asked = await Promise.allSettled([ask(1), ask(2), ask(3)]);
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(ask(1)).rejects.toMatchObject({ reason: "access.pending" });
  });

  test("of a user who was disabled, expired or lost the rule meanwhile is not allowed, and stays pending", async () => {
    await ask(2);
    await disableUser(app.system, id);
    await expect(review(true)).rejects.toMatchObject({ reason: "user.not_active" });
    expectShut();
    expect((await waiting())?.status).toBe("pending");
    await enableUser(app.system, id);
    await updateUser(app.system, id, { onRequest: null });
    await expect(review(true)).rejects.toMatchObject({ reason: "access.not_on_request" });
    await updateUser(app.system, id, { onRequest: REVIEW });
    app.clock.advance(400 * DAY);
    await expect(review(true)).rejects.toMatchObject({ reason: "user.not_active" });
  });

  test("ends first what the window before left behind, when it is allowed", async () => {
    await ask(1);
    await review(true);
    await ask(1);
    app.clock.advance(HOUR + SECOND);
    app.host.calls.length = 0;
    await review(true);
    expect(app.host.calls.filter((call) => /^(shut|open)Account/.test(call))).toEqual([
      `shutAccount ext_${name}`,
      `openAccount ext_${name}`,
    ]);
    await expectAsWanted();
  });

  test("ends with the user", async () => {
    await ask(2);
    await deleteUser(app.system, id);
    expect(await waiting()).toBeUndefined();
  });

  test("takes no days and creates nobody", async () => {
    const { request } = await ask(2);
    const given = [{ ttlDays: 5 }, { createUser: false }];
    for (const more of given)
      await expect(reviewApplication(app.system, request?.id ?? 0, { approve: true, ...more })).rejects.toMatchObject({
        code: "invalid",
      });
  });
});

describe("requestAccess() by the rule sponsor", () => {
  const BO = "bo@example.org";
  beforeEach(() => make({ onRequest: SPONSOR, sponsorEmail: BO }));

  const link = async (address = BO) => {
    const mail = (await app.mails(address)).filter(({ subject }) => subject.includes("for access to")).at(-1);
    return /decide#([\w-]{43})/.exec(mail?.text ?? "")?.[1] ?? "";
  };
  const answer = async (said: string, by = link()) =>
    decide({ ...app.system, actor: { type: "anonymous", name: "anonymous", ip: "192.0.2.8" } }, await by, [
      { id: (await waiting())?.id ?? 0, answer: said, reason: "I know" },
    ]);

  test("asks the sponsor by mail, shows the question and opens by their answer", async () => {
    const { request } = await ask(2);
    expect((await app.mails("admin@example.org")).filter(({ subject }) => subject.includes("asks for"))).toEqual([]);
    const look = await lookAt(app.system, await link());
    expect(look).toMatchObject({ kind: "access", items: [{ id: request?.id, username: name }], answered: [] });
    expect(look.question).toContain(BO);
    expectShut();
    app.clock.advance(HOUR);
    await answer("allow");
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-11-27T13:00:00Z") });
    expect(await records("access.allow")).toEqual([["success", "sponsor"]]);
    expect((await lookAt(app.system, await link())).answered).toMatchObject([{ answer: "allow", reason: "I know" }]);
  });

  test("ends first what the window before left behind, when they allow it", async () => {
    await ask(1);
    await answer("allow");
    await ask(1);
    app.clock.advance(HOUR + SECOND);
    app.host.calls.length = 0;
    await answer("allow");
    expect(app.host.calls.filter((call) => /^(shut|open)Account/.test(call))).toEqual([
      `shutAccount ext_${name}`,
      `openAccount ext_${name}`,
    ]);
  });

  test("is refused by them, and a second answer changes nothing", async () => {
    const { request } = await ask(2);
    const token = await link();
    await answer("refuse");
    expect(await records("access.refuse")).toEqual([["success", "sponsor"]]);
    const again = decide(app.system, token, [{ id: request?.id ?? 0, answer: "allow" }]);
    await expect(again).rejects.toMatchObject({ reason: "decision.answered" });
    expectShut();
  });

  test("is not refused with the word for a request that was taken back", async () => {
    const { request } = await ask(2);
    const withdrawn = { id: request?.id ?? 0, answer: "refuse", reason: "Withdrawn" };
    await expect(decide(app.system, await link(), [withdrawn])).rejects.toMatchObject({ code: "invalid" });
    expect(await waiting()).toMatchObject({ id: request?.id, status: "pending" });
    expect(await records("approval.review")).toEqual([]);
  });

  test("two answers at the same instant: the first one stays", async () => {
    await ask(2);
    const answers = await Promise.allSettled([answer("allow"), answer("refuse"), answer("allow")]);
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expectAsWanted();
  });

  test("whoever is no longer the sponsor allows nothing; a forwarded link answers only what it asks", async () => {
    await ask(2);
    const old = await link();
    const other = name;
    await updateUser(app.system, id, { sponsorEmail: "mo@example.org" });
    await expect(lookAt(app.system, old)).rejects.toMatchObject({ reason: "decision.missing" });
    await expect(answer("allow", Promise.resolve(old))).rejects.toMatchObject({ reason: "decision.missing" });
    await make({ onRequest: SPONSOR, sponsorEmail: BO });
    const { request } = await ask(2);
    const foreign = decide(app.system, old, [{ id: request?.id ?? 0, answer: "allow" }]);
    await expect(foreign).rejects.toMatchObject({ code: "not_found" });
    expect(app.host.accounts.get(`ext_${other}`)?.open).toBe(false);
    expectShut();
  });

  test("a sponsor allows nothing once the rule says that somebody else does", async () => {
    const { request } = await ask(2);
    const old = await link();
    await updateUser(app.system, id, { onRequest: REVIEW });
    await expect(lookAt(app.system, old)).rejects.toMatchObject({ reason: "decision.missing" });
    await expect(answer("allow", Promise.resolve(old))).rejects.toMatchObject({ reason: "decision.missing" });
    expectShut();
    expect(await waiting()).toMatchObject({ id: request?.id, status: "pending" });
    await review(true);
    expect(account()?.open).toBe(true);
  });

  test("all of a sponsor who was moved are asked of the new one", async () => {
    await ask(2);
    await moveSponsor(app.system, { from: BO, to: "mo@example.org" });
    await askWaitingSponsors(app.services);
    await answer("allow", link("mo@example.org"));
    expect(account()?.open).toBe(true);
  });

  const MO = "mo@example.org";
  const byCompany = async () => {
    const company = await createCompany(app.system, { name: `Of ${name}`, sponsorEmail: BO });
    await updateUser(app.system, id, { sponsorEmail: "", companyId: company.row.id });
    return company.row.id;
  };
  test.each([
    ["their user's", async () => void (await updateUser(app.system, id, { sponsorEmail: MO }))],
    ["their company's", async () => void (await updateCompany(app.system, await byCompany(), { sponsorEmail: MO }))],
  ])("%s new sponsor is asked within a minute, and decides", async (_, change) => {
    const { request } = await ask(2);
    await change();
    await followSponsors(app.services);
    await askWaitingSponsors(app.services);
    expect(await waiting()).toMatchObject({ id: request?.id, sponsorEmail: MO, sponsorAnswer: "asked" });
    await answer("allow", link(MO));
    expect(account()?.open).toBe(true);
    expect(await records("access.allow")).toEqual([["success", "sponsor"]]);
  });

  test.each([
    ["nobody is their sponsor any more", { sponsorEmail: "" }],
    ["the rule says that they decide", { onRequest: REVIEW }],
  ])("the administrators are told once, and decide, when %s", async (_, change) => {
    await ask(2);
    const old = await link();
    await updateUser(app.system, id, change);
    for (const time of [1, 2]) {
      await followSponsors(app.services);
      await askWaitingSponsors(app.services);
      const told = (await app.mails("admin@example.org")).filter(({ subject }) =>
        subject.includes(`${name} asks for access`),
      );
      expect([time, told.length]).toEqual([time, 1]);
    }
    await expect(answer("allow", Promise.resolve(old))).rejects.toMatchObject({ reason: "decision.missing" });
    await review(true);
    expect(account()?.open).toBe(true);
  });

  test("what is decided meanwhile, and what its sponsor is asked, stay as they are", async () => {
    const { request } = await ask(2);
    await followSponsors(app.services);
    expect(await waiting()).toMatchObject({ id: request?.id, sponsorEmail: BO, sponsorAnswer: "asked" });
    await answer("refuse");
    await updateUser(app.system, id, { sponsorEmail: MO });
    await followSponsors(app.services);
    const [row] = await app.db
      .select()
      .from(approvals)
      .where(eq(approvals.id, request?.id ?? 0));
    expect(row).toMatchObject({ status: "rejected", sponsorEmail: BO, sponsorAnswer: "declined" });
  });

  test("an administrator decides where nobody is their sponsor, or first", async () => {
    await ask(2);
    const token = await link();
    await review(true);
    expect(account()?.open).toBe(true);
    await expect(lookAt(app.system, token)).rejects.toMatchObject({ reason: "decision.closed" });
    await make({ onRequest: SPONSOR });
    app.clock.advance(DAY);
    await ask(1);
    expect((await app.mails("admin@example.org")).at(-1)?.subject).toContain(`${name} asks for access`);
  });

  test("is not allowed by them for somebody disabled meanwhile, or outside the hours", async () => {
    await ask(2);
    await disableUser(app.system, id);
    await expect(answer("allow")).rejects.toMatchObject({ reason: "user.not_active" });
    await enableUser(app.system, id);
    await updateUser(app.system, id, { hours: parseHours("sun 08:00-18:00 UTC") });
    await expect(answer("allow")).rejects.toMatchObject({ reason: "access.outside_hours" });
    expectShut();
  });
});
