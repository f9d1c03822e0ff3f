/** Requests for more time: made by users for themselves, reviewed like applications. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { findUser, type User } from "../../../src/domain/accounts/find-user.ts";
import { USER_DELETED } from "../../../src/domain/accounts/own-requests.ts";
import { tellOfWaitingApplications } from "../../../src/domain/approvals/notices.ts";
import { expireDue, recycleDue } from "../../../src/domain/lifecycle/lifecycle.ts";
import { DAY, HOUR, MINUTE } from "../../../src/shared/time/clock.ts";
import { approvals, closings, users } from "../../../src/store/schema.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;
let me: Client;
let name: string;
let id: number;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
});
afterAll(() => app.close());
beforeEach(async () => {
  app.host.failing.clear();
  app.clock.advance(HOUR);
  await app.db.delete(closings);
  admin = await app.admin();
  name = `more-${++count}`;
  ({ id, client: me } = await app.user(name));
});

const WHY = "The tests take longer";
const ask = (body: unknown = { days: 10, reason: WHY }, client = me) => client.call("POST", "/me/extension", body);
const asked = async (): Promise<number> => (await ask()).body.data.id;
const review = (application: number, body: unknown) => admin.call("POST", `/approvals/${application}/review`, body);
const row = () => findUser(app.db, id) as Promise<User>;
const shown = async () => (await me.call("GET", "/me")).body.data.extension;
const stored = async (application: number) =>
  (await app.db.select().from(approvals).where(eq(approvals.id, application)))[0];
const pending = async () =>
  await app.db
    .select()
    .from(approvals)
    .where(and(eq(approvals.userId, id), eq(approvals.status, "pending")));
const subjects = async (recipient: string) => (await app.mails(recipient)).map(({ subject }) => subject);

function expireAt(time: Date) {
  return app.db.update(users).set({ expireAt: time }).where(eq(users.id, id));
}

describe("requestExtension()", () => {
  test("stores the request with who asks, for how long and why, tells the administrators, and records it", async () => {
    const answer = await ask({ days: 10, reason: `  ${WHY} ` });
    expect(answer.status).toBe(201);
    expect(answer.body.data).toEqual({
      id: expect.any(Number),
      kind: "extension",
      user_id: id,
      days: 10,
      hours: null,
      hosts: null,
      hours_wish: "",
      end_when_asked: (await row()).expireAt.toISOString(),
      company_id: null,
      requested_by: "",
      username: name,
      email: `${name}@example.org`,
      full_name: "",
      supervisor: "",
      purpose: WHY,
      ...{ sponsor_email: "", sponsor_answer: "none", sponsor_reason: "" },
      status: "pending",
      reason: "",
      reviewed_by: "",
      reviewed_at: null,
      created_at: app.clock.now().toISOString(),
    });
    const application = answer.body.data.id;
    const mail = (await app.mails("admin@example.org")).at(-1);
    expect(mail?.subject).toBe(`${name} asks for more time on 127.0.0.1`);
    for (const part of ["10 days more", WHY, "/admin/applications"]) expect(mail?.text).toContain(part);
    expect(await app.lastAudit("extension.request")).toMatchObject({
      actorType: "user",
      actor: name,
      resourceType: "user",
      resourceId: String(id),
      subjectId: id,
      detail: { username: name, days: 10, application },
      result: "success",
    });
    expect((await row()).expireAt).toEqual(new Date(app.clock.now().getTime() + 90 * DAY));
  });

  test.each([
    [{ days: 0, reason: WHY }],
    [{ days: 366, reason: WHY }],
    [{ days: 1.5, reason: WHY }],
    [{ days: "10", reason: WHY }],
    [{ days: null, reason: WHY }],
    [{ reason: WHY }],
    [{ days: 10 }],
    [{ days: 10, reason: "" }],
    [{ days: 10, reason: "  " }],
    [{ days: 10, reason: "x".repeat(1001) }],
    [{ days: 10, reason: "two\nlines" }],
    [{ days: 10, reason: "\u202egnirts" }],
    [{ dayz: 10, days: 10, reason: WHY }],
    ["{broken"],
  ])("refuses %j with 400, and records the refusal in the user's name", async (body) => {
    const before = await app.mails();
    expect((await ask(body)).status).toBe(400);
    expect(await pending()).toEqual([]);
    expect(await app.mails()).toEqual(before);
    const record = await app.lastAudit("extension.request");
    expect(record).toMatchObject({ actor: name, resourceId: String(id), subjectId: id, result: "failed" });
    expect(record.detail).toMatchObject({ username: name, err: expect.any(String) });
  });

  test("takes 1 and 365 days and a reason of 1000 characters", async () => {
    await review((await ask({ days: 1, reason: "x".repeat(1000) })).body.data.id, { approve: false, reason: "no" });
    expect((await ask({ days: 365, reason: "x" })).status).toBe(201);
  });

  test("of many at once one is pending; another may follow once it is decided", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask()));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
    expect(await pending()).toHaveLength(1);
    expect((await ask()).body.error).toContain("already");
    await review((await pending())[0]?.id ?? 0, { approve: false, reason: "no" });
    expect((await ask()).status).toBe(201);
  });

  test("the database itself keeps a second one from being pending", async () => {
    const values = {
      kind: "extension",
      userId: id,
      days: 1,
      username: name,
      email: "",
      createdAt: new Date(),
    } as const;
    await app.db.insert(approvals).values(values);
    const second = Promise.resolve(app.db.insert(approvals).values(values));
    await expect(second).rejects.toMatchObject({ cause: { constraint_name: "approvals_pending_extension" } });
    const odd = Promise.resolve(app.db.insert(approvals).values({ ...values, kind: "access" }));
    await expect(odd).rejects.toMatchObject({ cause: { constraint_name: "approvals_kind" } });
  });

  test("is 409 for a user who is disabled, also one who expired since", async () => {
    await admin.call("POST", `/users/${id}/disable`);
    expect([(await ask()).status, (await ask()).body.error]).toEqual([409, expect.stringContaining("is disabled")]);
    await expireAt(app.clock.now());
    expect((await ask()).status).toBe(409);
    expect(await pending()).toEqual([]);
  });

  test("is 409 while access is being taken away", async () => {
    const by = { actorType: "admin", actor: "admin", begunAt: app.clock.now(), dueAt: app.clock.now() } as const;
    await app.db.insert(closings).values({ userId: id, kind: "shut", action: "user.disable", ...by });
    expect((await ask()).status).toBe(409);
    await app.db.delete(closings);
    await app.db.insert(closings).values({ userId: id, kind: "remove", action: "user.delete", ...by });
    expect((await ask()).body.error).toContain("is being deleted");
    expect(await pending()).toEqual([]);
  });

  test("may come from a user who has expired, until the recycle period is over", async () => {
    await expireAt(new Date(app.clock.now().getTime() - 30 * DAY + 1));
    const application = await asked();
    await review(application, { approve: false, reason: "no" });
    app.clock.advance(1);
    const { status, body } = await ask();
    expect([status, body.error]).toEqual([409, expect.stringContaining("The recycle period")]);
  });

  test("is 404 for a user who was deleted", async () => {
    await admin.call("DELETE", `/users/${id}`);
    expect((await ask()).status).toBe(404);
  });

  test("needs room in no queue of anonymous applications, and takes none there", async () => {
    const flood = await createTestApp();
    const keeper = await flood.admin();
    const { client } = await flood.user("anna");
    const values = Array.from({ length: 199 }, (_, n) => ({ username: `f${n}`, email: "f@x", createdAt: new Date() }));
    await flood.db.insert(approvals).values(values);
    const apply = () => flood.anonymous().call("POST", "/approvals", { username: "late", email: "l@example.org" });
    expect((await client.call("POST", "/me/extension", { days: 1, reason: "x" })).status).toBe(201);
    expect((await apply()).status).toBe(201);
    expect((await apply()).status).toBe(429);
    const other = await flood.user("bo");
    expect((await other.client.call("POST", "/me/extension", { days: 1, reason: "x" })).status).toBe(201);
    expect((await keeper.call("GET", "/admin/stats")).body.data.pending_approvals).toBe(202);
    await flood.close();
  });
});

describe("reviewApplication() of a request for more time", () => {
  test("after another extension gives at most the end that was asked for, and takes nothing away", async () => {
    const before = (await row()).expireAt.getTime();
    const first = await asked();
    await admin.call("POST", `/users/${id}/extend`, { days: 4 });
    expect((await review(first, { approve: true })).status).toBe(200);
    expect((await row()).expireAt.getTime()).toBe(before + 10 * DAY);
    const second = await asked();
    await admin.call("POST", `/users/${id}/extend`, { days: 30 });
    expect((await review(second, { approve: true })).status).toBe(200);
    expect((await row()).expireAt.getTime()).toBe(before + 40 * DAY);
    const third = await asked();
    await admin.call("POST", `/users/${id}/extend`, { days: 1 });
    expect((await review(third, { approve: true, ttl_days: 20 })).status).toBe(200);
    expect((await row()).expireAt.getTime()).toBe(before + 61 * DAY);
  });

  test("of two that extend at once, an administrator and the review, gives no more than both asked for", async () => {
    const before = (await row()).expireAt.getTime();
    const application = await asked();
    const answers = await Promise.all([
      review(application, { approve: true }),
      admin.call("POST", `/users/${id}/extend`, { days: 3 }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    // The review may come first; then the administrator adds to it.
    expect([before + 10 * DAY, before + 13 * DAY]).toContain((await row()).expireAt.getTime());
  });

  test("whose end has passed meanwhile has to say how many days, and stays pending", async () => {
    const application = (await ask({ days: 1, reason: WHY })).body.data.id;
    await expireAt(new Date(app.clock.now().getTime() + 2 * HOUR));
    await app.db
      .update(approvals)
      .set({
        endThen: new Date(app.clock.now().getTime() - 3 * DAY),
        createdAt: new Date(app.clock.now().getTime() - 3 * DAY),
      })
      .where(eq(approvals.id, application));
    const answer = await review(application, { approve: true });
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining("has passed")]);
    expect((await stored(application))?.status).toBe("pending");
    expect((await review(application, { approve: true, ttl_days: 2 })).status).toBe(200);
  });

  test("approving extends by the days asked for, in the same transaction, and mails the user", async () => {
    const before = await row();
    const application = await asked();
    const answer = await review(application, { approve: true });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({ kind: "extension", status: "approved", reviewed_by: "admin", days: 10 });
    const until = new Date(before.expireAt.getTime() + 10 * DAY);
    expect((await row()).expireAt).toEqual(until);
    expect(app.host.accounts.get(`ext_${name}`)?.expireAt).toEqual(until);
    expect((await subjects(`${name}@example.org`)).at(-1)).toContain("now lasts until");
    const [extended, reviewed] = (await app.auditRows()).slice(-2);
    expect([extended, reviewed]).toMatchObject([
      { action: "user.extend", actor: "admin", subjectId: id, result: "success" },
      { action: "approval.review", actor: "admin", subjectId: id, result: "success" },
    ]);
    expect(JSON.parse(reviewed?.detail ?? "")).toEqual({
      application,
      approve: true,
      username: name,
      outcome: "approved",
    });
  });

  test.each([
    [0, 10],
    [3, 3],
    [400, 400],
  ])("ttl_days %i extends by %i days", async (ttl, days) => {
    const before = await row();
    await review(await asked(), { approve: true, ttl_days: ttl });
    expect((await row()).expireAt).toEqual(new Date(before.expireAt.getTime() + days * DAY));
  });

  test("opens the account of a user who had expired again, counted from now", async () => {
    await expireAt(app.clock.now());
    await expireDue(app.system, { now: app.clock.now(), holdUntil: undefined });
    expect((await row()).status).toBe("expired");
    await review(await asked(), { approve: true });
    expect(await row()).toMatchObject({
      status: "active",
      expireAt: new Date(app.clock.now().getTime() + 10 * DAY),
    });
    expect(app.host.accounts.get(`ext_${name}`)?.open).toBe(true);
  });

  test("rejecting needs a reason, which goes to the present address; nothing is extended", async () => {
    const before = await row();
    const application = await asked();
    expect((await review(application, { approve: false })).status).toBe(400);
    await admin.call("PATCH", `/users/${id}`, { email: `new-${name}@example.org` });
    expect((await review(application, { approve: false, reason: "The project is over" })).status).toBe(200);
    const mail = (await app.mails(`new-${name}@example.org`)).at(-1);
    expect(mail?.text).toContain("The project is over");
    expect(await subjects(`${name}@example.org`)).not.toContain("Your request for more time on 127.0.0.1");
    expect((await row()).expireAt).toEqual(before.expireAt);
    expect((await app.lastAudit("approval.review")).detail).toMatchObject({ application, outcome: "rejected" });
  });

  test("of 8 at once one decides, and the account is extended at most once", async () => {
    const before = await row();
    const application = await asked();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        review(application, n % 2 ? { approve: true } : { approve: false, reason: "no" }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
    const days = (await stored(application))?.status === "approved" ? 10 : 0;
    expect((await row()).expireAt).toEqual(new Date(before.expireAt.getTime() + days * DAY));
  });

  test("when the host refuses it stays pending, nothing is extended, and both are recorded as failed", async () => {
    const before = await row();
    const application = await asked();
    const mails = (await app.mails(`${name}@example.org`)).length;
    app.host.failing.add("openAccount");
    const answer = await review(application, { approve: true });
    expect([answer.status, answer.body.error]).toEqual([500, expect.stringContaining("The host refused")]);
    expect((await stored(application))?.status).toBe("pending");
    expect((await row()).expireAt).toEqual(before.expireAt);
    expect((await app.mails(`${name}@example.org`)).length).toBe(mails);
    expect((await app.auditRows()).slice(-2)).toMatchObject([
      { action: "user.extend", result: "failed" },
      { action: "approval.review", result: "failed" },
    ]);
    app.host.failing.clear();
    expect((await review(application, { approve: true })).status).toBe(200);
  });

  test("once the recycle period is over it can only be rejected", async () => {
    await expireAt(app.clock.now());
    const application = await asked();
    app.clock.advance(30 * DAY);
    admin = await app.admin();
    const answer = await review(application, { approve: true });
    expect([answer.status, answer.body.error]).toEqual([500, expect.stringContaining("The recycle period")]);
    expect((await stored(application))?.status).toBe("pending");
    expect((await review(application, { approve: false, reason: "too late" })).status).toBe(200);
  });

  test("a user who was disabled since stays disabled", async () => {
    const application = await asked();
    await me.call("POST", "/me/lock");
    expect((await review(application, { approve: true })).status).toBe(200);
    expect((await row()).status).toBe("disabled");
    expect(app.host.accounts.get(`ext_${name}`)?.open).toBe(false);
  });

  test.each([
    [{ approve: true, create_user: false }],
    [{ approve: true, ttl_days: 3651 }],
    [{ approve: true, ttl_days: -1 }],
    [{ approve: true, ttl_days: 1.5 }],
  ])("%j is 400, and the request stays pending", async (body) => {
    const application = await asked();
    expect((await review(application, body)).status).toBe(400);
    expect((await stored(application))?.status).toBe("pending");
  });
});

describe("a user who is deleted", () => {
  test("has their pending request rejected in the same transaction, by whoever deletes, and gets no mail about it", async () => {
    const application = await asked();
    await admin.call("DELETE", `/users/${id}`);
    expect(await stored(application)).toMatchObject({
      status: "rejected",
      reason: USER_DELETED,
      reviewedBy: "admin",
      reviewedAt: app.clock.now(),
      userId: id,
    });
    expect((await app.lastAudit("user.delete")).detail).toMatchObject({ rejected_application: application });
    expect((await subjects(`${name}@example.org`)).at(-1)).toContain("is deleted");
    expect((await review(application, { approve: true })).status).toBe(409);
  });

  test("keeps what was decided before", async () => {
    const application = await asked();
    await review(application, { approve: true });
    await admin.call("DELETE", `/users/${id}`);
    expect((await stored(application))?.status).toBe("approved");
    expect((await app.lastAudit("user.delete")).detail).not.toHaveProperty("rejected_application");
  });

  test("is waited for where the host cannot finish: the request is rejected once the user is gone", async () => {
    const application = await asked();
    app.host.failing.add("removeAccount");
    await admin.call("DELETE", `/users/${id}`);
    expect((await stored(application))?.status).toBe("pending");
    expect((await review(application, { approve: true })).status).toBe(500);
    app.host.failing.clear();
    await admin.call("DELETE", `/users/${id}`);
    expect((await stored(application))?.status).toBe("rejected");
  });

  test("at the same moment as a review leaves either outcome whole, without a deadlock", async () => {
    for (let round = 0; round < 6; round++) {
      const someone = await app.user(`${name}-${round}`);
      const application = (await ask({ days: 1, reason: "x" }, someone.client)).body.data.id;
      const [reviewed, deleted] = await Promise.all([
        review(application, { approve: true }),
        admin.call("DELETE", `/users/${someone.id}`),
      ]);
      // Of two that wait for each other the database would end one with an error.
      expect(deleted.status).toBe(200);
      expect((await stored(application))?.status).toBe(reviewed.status === 200 ? "approved" : "rejected");
      expect([200, 409]).toContain(reviewed.status);
    }
  });

  test("by the end of the recycle period has theirs rejected by the service", async () => {
    await expireAt(app.clock.now());
    const application = await asked();
    const past = new Date(app.clock.now().getTime() - 31 * DAY);
    await app.db.update(users).set({ expireAt: past, status: "expired" }).where(eq(users.id, id));
    await recycleDue(
      { ...app.system, actor: { type: "system", name: "system", ip: "" } },
      {
        now: app.clock.now(),
        holdUntil: undefined,
      },
    );
    expect(await stored(application)).toMatchObject({ status: "rejected", reviewedBy: "system" });
  });
});

describe("withdrawExtension()", () => {
  const withdraw = () => me.call("DELETE", "/me/extension");

  test("takes the request back for good, mails nobody, and records it", async () => {
    const application = await asked();
    const before = await app.mails();
    const { status, body } = await withdraw();
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ id: application, status: "rejected", reason: "Withdrawn", reviewed_by: name });
    expect(await pending()).toEqual([]);
    expect(await shown()).toMatchObject({ id: application, status: "rejected", reason: "Withdrawn" });
    expect(await app.mails()).toEqual(before);
    expect(await app.lastAudit("extension.withdraw")).toMatchObject({
      ...{ actorType: "user", actor: name, resourceId: String(id), subjectId: id, result: "success" },
      detail: { username: name, application },
    });
    const late = await review(application, { approve: true });
    expect(late.status).toBe(409);
    expect(late.body.error).toContain("withdrawn");
    expect((await ask()).status).toBe(201);
  });

  test("is refused where none is pending, also once it is decided", async () => {
    expect((await withdraw()).status).toBe(404);
    const application = await asked();
    await review(application, { approve: false, reason: "no" });
    const refused = await withdraw();
    expect([refused.status, refused.headers.get("uam-error")]).toEqual([404, "application.missing"]);
    expect(await stored(application)).toMatchObject({ status: "rejected", reason: "no" });
  });

  test("of it and a decision at the same instant one counts", async () => {
    for (let round = 0; round < 8; round++) {
      const before = (await row()).expireAt;
      const application = await asked();
      const decide = () => review(application, { approve: true });
      const [first, second] = round % 2 === 0 ? [withdraw, decide] : [decide, withdraw];
      const answers = await Promise.all([first(), second()]);
      const [withdrawn, reviewed] = round % 2 === 0 ? answers : [...answers].reverse();
      expect([withdrawn?.status, reviewed?.status].sort()).toEqual(withdrawn?.status === 200 ? [200, 409] : [200, 404]);
      const isApproved = reviewed?.status === 200;
      expect((await stored(application))?.status).toBe(isApproved ? "approved" : "rejected");
      expect((await row()).expireAt.getTime() - before.getTime()).toBe(isApproved ? 10 * DAY : 0);
    }
  });

  test("is not for somebody else's", async () => {
    const application = await asked();
    const other = await app.user(`other-${name}`);
    expect((await other.client.call("DELETE", "/me/extension")).status).toBe(404);
    expect((await admin.call("DELETE", "/me/extension")).status).toBe(403);
    expect((await stored(application))?.status).toBe("pending");
  });
});

describe("GET /me", () => {
  test("shows the newest request while it is pending, and for 30 days after its review", async () => {
    expect(await shown()).toBeNull();
    const first = await asked();
    expect(await shown()).toEqual({
      id: first,
      status: "pending",
      days: 10,
      created_at: app.clock.now().toISOString(),
      reviewed_at: null,
      reason: "",
    });
    await review(first, { approve: false, reason: "Say more" });
    expect(await shown()).toMatchObject({ id: first, status: "rejected", reason: "Say more" });
    app.clock.advance(MINUTE);
    const second = (await ask({ days: 5, reason: "x" })).body.data.id;
    expect(await shown()).toMatchObject({ id: second, days: 5, status: "pending" });
    await review(second, { approve: true, reason: "fine" });
    await app.db.update(approvals).set({ reviewedAt: new Date(app.clock.now().getTime() - 30 * DAY + 1) });
    expect(await shown()).toMatchObject({ id: second, status: "approved", reason: "fine" });
    app.clock.advance(1);
    expect(await shown()).toBeNull();
  });
});

describe("GET /approvals", () => {
  test("filters by kind", async () => {
    const application = await asked();
    await app.anonymous().call("POST", "/approvals", { username: `new-${name}`, email: "n@example.org" });
    const of = async (query: string) => {
      const { items } = (await admin.call("GET", `/approvals?page_size=500&${query}`)).body.data;
      return new Set(items.map((item: { kind: string }) => item.kind));
    };
    expect(await of("kind=extension")).toEqual(new Set(["extension"]));
    expect(await of("kind=access")).toEqual(new Set(["access"]));
    expect(await of("")).toEqual(new Set(["extension", "access"]));
    const { body } = await admin.call("GET", "/approvals?kind=extension&status=pending");
    expect(body.data.items[0]).toMatchObject({ id: application, user_id: id, days: 10, kind: "extension" });
    expect((await admin.call("GET", "/approvals?kind=other")).status).toBe(400);
    const { data: own } = (await admin.call("GET", `/approvals?user_id=${id}`)).body;
    expect(new Set(own.items.map((item: { user_id: number }) => item.user_id))).toEqual(new Set([id]));
    expect((await admin.call("GET", "/approvals?user_id=0")).body.data).toEqual({ total: 0, items: [] });
  });
});

describe("the administrators", () => {
  test("are mailed requests and applications that come within ten minutes together", async () => {
    const told = async () => (await subjects("admin@example.org")).length;
    await asked();
    const first = await told();
    await app.anonymous().call("POST", "/approvals", { username: `a-${name}`, email: "a@example.org" });
    const others = [await app.user(`b-${name}`), await app.user(`c-${name}`)];
    for (const { client } of others) await ask({ days: 1, reason: "x" }, client);
    expect(await told()).toBe(first);
    app.clock.advance(10 * MINUTE);
    await tellOfWaitingApplications(app.services);
    const mail = (await app.mails("admin@example.org")).at(-1);
    expect(mail?.subject).toBe("3 new requests for 127.0.0.1");
    const text = mail?.text.replace(/\s+/g, " ");
    expect(text).toContain("1 for access, 2 for more time");
    expect(text).toContain(`c-${name}@example.org, 1 day more`);
  });
});
