import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { tellOfWaitingApplications } from "../../../src/domain/approvals/notices.ts";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { DAY, HOUR, MINUTE } from "../../../src/shared/time/clock.ts";
import { approvals, users } from "../../../src/store/schema.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;
let name: string;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  await app.admin();
  await addAdmin(app.system, "second", "second@example.org", ADMIN_PASSWORD);
});
afterAll(() => app.close());
beforeEach(async () => {
  app.clock.advance(HOUR);
  app.host.failing.clear();
  admin = await app.admin();
  name = `applicant-${++count}`;
});

function apply(fields: Record<string, unknown> = {}) {
  return app.anonymous().call("POST", "/approvals", { username: name, email: `${name}@example.org`, ...fields });
}

async function applied(fields: Record<string, unknown> = {}): Promise<number> {
  return (await apply(fields)).body.data.id;
}

function review(id: number | string, body: unknown) {
  return admin.call("POST", `/approvals/${id}/review`, body);
}

async function statusOf(id: number): Promise<string> {
  const { body } = await admin.call("GET", "/approvals?page_size=500");
  return body.data.items.find((item: { id: number }) => item.id === id)?.status;
}

/** What the applicant was mailed after the receipt. */
async function outcomes() {
  return (await app.mails(`${name}@example.org`)).filter(({ subject }) => !subject.includes("has arrived"));
}

async function userNamed(username: string) {
  return (await app.db.select().from(users)).find((user) => user.username === username);
}

describe("submitApplication()", () => {
  test("stores it, answers with it, mails every administrator and records it", async () => {
    const answer = await apply({ supervisor: "Ann", purpose: "A study", hours_wish: " Tuesdays, 8 to 18 " });
    expect(answer.status).toBe(201);
    expect(answer.body.data).toEqual({
      id: expect.any(Number),
      kind: "access",
      user_id: null,
      days: null,
      hours: null,
      hosts: null,
      hours_wish: "Tuesdays, 8 to 18",
      end_when_asked: null,
      company_id: null,
      requested_by: "",
      username: name,
      email: `${name}@example.org`,
      full_name: "",
      supervisor: "Ann",
      purpose: "A study",
      ...{ sponsor_email: "", sponsor_answer: "none", sponsor_reason: "" },
      status: "pending",
      reason: "",
      reviewed_by: "",
      reviewed_at: null,
      created_at: app.clock.now().toISOString(),
    });
    for (const recipient of ["admin@example.org", "second@example.org"]) {
      expect((await app.mails(recipient)).at(-1)?.subject).toContain(name);
    }
    expect(await app.lastAudit("approval.submit")).toMatchObject({
      actorType: "anonymous",
      resourceType: "",
      resourceId: "",
      detail: { username: name, application: answer.body.data.id },
      result: "success",
      ip: "192.0.2.1",
    });
  });

  test("mails the applicant a receipt that names no other", async () => {
    await apply({ email: `first-${name}@example.org` });
    await apply();
    const [receipt, ...more] = await app.mails(`${name}@example.org`);
    expect(more).toEqual([]);
    expect(receipt?.subject).toContain("has arrived");
    expect(receipt?.text).not.toContain("first-");
  });

  test("accepts several for one username, and tells nobody which are pending", async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => apply({ email: `n${n}@example.org` })));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
    const ids = answers.map(({ body }) => body.data.id);
    await review(ids[3], { approve: true });
    expect((await userNamed(name))?.email).toBe("n3@example.org");
    expect(await statusOf(ids[4])).toBe("pending");
    expect((await review(ids[4], { approve: true })).status).toBe(409);
    expect(await statusOf(ids[4])).toBe("pending");
    expect((await review(ids[4], { approve: false, reason: "somebody else has the name" })).status).toBe(200);
    expect((await apply()).status).toBe(201);
  });

  test("does not tell whether a user of that name exists", async () => {
    await admin.call("POST", "/users", { username: name, email: "u@example.org" });
    expect((await apply()).status).toBe(201);
  });

  test.each([
    { username: "ext_prefixed" },
    { username: "Upper" },
    { username: "" },
    { username: "a\u0000b" },
    { username: undefined },
    { email: "nobody" },
    { email: undefined },
    { email: null },
    { supervisor: "x".repeat(129) },
    { purpose: "two\nlines" },
    { purpose: "\u2066" },
  ])("refuses %j with 400 and mails nobody", async (fields) => {
    const before = await app.mails();
    expect((await apply(fields)).status).toBe(400);
    expect(await app.mails()).toEqual(before);
  });
});

describe("reviewApplication()", () => {
  test("approving creates the user in the same operation and mails the applicant", async () => {
    const id = await applied({ supervisor: "Ann", purpose: "A study" });
    const answer = await review(id, { approve: true, reason: "welcome" });
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({
      id,
      status: "approved",
      reason: "welcome",
      reviewed_by: "admin",
      reviewed_at: app.clock.now().toISOString(),
    });
    const user = await userNamed(name);
    expect(user).toMatchObject({
      email: `${name}@example.org`,
      supervisor: "Ann",
      purpose: "A study",
      status: "active",
    });
    expect(user?.expireAt).toEqual(new Date(app.clock.now().getTime() + 90 * DAY));
    expect(app.host.accounts.has(`ext_${name}`)).toBe(true);
    const mails = await outcomes();
    expect(mails.map(({ subject }) => subject)).toEqual([expect.stringContaining("is ready")]);
    const rows = (await app.auditRows()).slice(-2);
    expect(rows.map(({ action, result, actor }) => [action, result, actor])).toEqual([
      ["user.create", "success", "admin"],
      ["approval.review", "success", "admin"],
    ]);
    expect(await app.lastAudit("approval.review")).toMatchObject({
      resourceType: "",
      resourceId: "",
      detail: { application: id, approve: true, username: name, outcome: "approved" },
    });
  });

  test("uses ttl_days for the user's expiry", async () => {
    await review(await applied(), { approve: true, ttl_days: 3 });
    expect((await userNamed(name))?.expireAt).toEqual(new Date(app.clock.now().getTime() + 3 * DAY));
  });

  test("gives the new user the company, the sponsor and the hours that the reviewer sets, within the company's limits", async () => {
    const company = { name: `Company of ${name}`, max_ttl_days: 10, sponsor_email: "lead@example.org" };
    const { id: company_id } = (await admin.call("POST", "/companies", company)).body.data;
    const id = await applied({ sponsor_email: "bo@example.org" });
    const tooLong = await review(id, { approve: true, company_id, ttl_days: 11 });
    expect([tooLong.status, tooLong.headers.get("uam-error")]).toEqual([400, "company.limit"]);
    expect(await statusOf(id)).toBe("pending");
    const hours = { zone: "Europe/Berlin", windows: [{ days: ["mon"], from: "08:00", to: "18:00" }] };
    expect((await review(id, { approve: true, company_id, sponsor_email: "Vera@example.org", hours })).status).toBe(
      200,
    );
    const user = await userNamed(name);
    expect(user).toMatchObject({
      ...{ companyId: company_id, sponsorEmail: "vera@example.org", hours: "mon 08:00-18:00 Europe/Berlin" },
      expireAt: new Date(app.clock.now().getTime() + 10 * DAY),
    });
    expect((await app.lastAudit("user.create"))?.detail).toMatchObject({
      ...{ company: company.name, sponsor_email: "vera@example.org", hours: "mon 08:00-18:00 Europe/Berlin" },
    });
  });

  test("creates the user with the start that the reviewer sets, from which the days count", async () => {
    const starts_at = new Date(app.clock.now().getTime() + 5 * DAY).toISOString();
    const id = await applied();
    const past = await review(id, { approve: true, starts_at: "2020-01-01T00:00:00Z" });
    expect([past.status, await statusOf(id)]).toEqual([400, "pending"]);
    expect((await review(id, { approve: true, starts_at, ttl_days: 3 })).status).toBe(200);
    expect(await userNamed(name)).toMatchObject({
      ...{ startsAt: new Date(starts_at), hoursDueAt: new Date(starts_at) },
      expireAt: new Date(Date.parse(starts_at) + 3 * DAY),
    });
    expect(app.host.accounts.get(`ext_${name}`)).toMatchObject({ open: false, file: [] });
  });

  test("keeps the sponsor who was named, unless the reviewer leaves that to the company", async () => {
    await review(await applied({ sponsor_email: "bo@example.org" }), { approve: true });
    expect((await userNamed(name))?.sponsorEmail).toBe("bo@example.org");
    name = `applicant-${++count}`;
    await review(await applied({ sponsor_email: "bo@example.org" }), { approve: true, sponsor_email: "" });
    expect((await userNamed(name))?.sponsorEmail).toBe("");
  });

  test.each([
    { company_id: null },
    { sponsor_email: "bo@example.org" },
    { hours: null },
    { starts_at: "2046-01-01T00:00:00Z" },
  ])("refuses %j where no user is created", async (given) => {
    const id = await applied();
    for (const body of [
      { approve: false, reason: "No" },
      { approve: true, create_user: false },
    ]) {
      expect((await review(id, { ...body, ...given })).status).toBe(400);
    }
    expect(await statusOf(id)).toBe("pending");
  });

  test("create_user false approves without a user, and says so to the applicant", async () => {
    const answer = await review(await applied(), { approve: true, create_user: false });
    expect(answer.body.data.status).toBe("approved");
    expect(await userNamed(name)).toBeUndefined();
    expect((await app.mails(`${name}@example.org`)).at(-1)?.subject).toContain("is approved");
  });

  test("rejecting needs a reason, which the applicant is mailed", async () => {
    const id = await applied();
    for (const reason of [undefined, "", "  "]) {
      expect((await review(id, { approve: false, reason })).status).toBe(400);
      expect(await statusOf(id)).toBe("pending");
    }
    expect((await review(id, { approve: false, reason: "The study has ended" })).body.data).toMatchObject({
      status: "rejected",
      reason: "The study has ended",
    });
    expect((await app.mails(`${name}@example.org`)).at(-1)?.text).toContain("The study has ended");
    expect(await userNamed(name)).toBeUndefined();
  });

  test("no decision is taken for a request that was taken back", async () => {
    const id = await applied();
    for (const approve of [true, false]) {
      const answer = await review(id, { approve, reason: " Withdrawn " });
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).toContain("taken back");
      expect(await statusOf(id)).toBe("pending");
    }
    expect((await review(id, { approve: false, reason: "Withdrawn, by its company" })).status).toBe(200);
  });

  test.each([
    ["approve", { approve: true, create_user: false }],
    ["reject", { approve: false, reason: "no" }],
  ])("a second review after %s is 409 and changes nothing", async (_name, first) => {
    const id = await applied();
    await review(id, first);
    const status = await statusOf(id);
    for (const body of [{ approve: true }, { approve: false, reason: "again" }]) {
      expect((await review(id, body)).status).toBe(409);
      expect(await statusOf(id)).toBe(status);
    }
    expect(await userNamed(name)).toBeUndefined();
  });

  test("of 8 simultaneous reviews one decides, and one mail goes out", async () => {
    const id = await applied();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => review(id, n % 2 ? { approve: true } : { approve: false, reason: "no" })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
    expect(await outcomes()).toHaveLength(1);
    expect((await userNamed(name)) !== undefined).toBe((await statusOf(id)) === "approved");
  });

  test("a taken username is 409, the application stays pending", async () => {
    await admin.call("POST", "/users", { username: name, email: "u@example.org" });
    const id = await applied();
    expect((await review(id, { approve: true })).status).toBe(409);
    expect(await statusOf(id)).toBe("pending");
    const [create, failed] = (await app.auditRows()).slice(-2);
    expect([create, failed]).toMatchObject([
      { action: "user.create", result: "failed" },
      { action: "approval.review", result: "failed" },
    ]);
    expect((await review(id, { approve: true, create_user: false })).status).toBe(200);
  });

  test.each([
    ["the host refuses", { approve: true }],
    ["ttl_days is out of range", { approve: true, ttl_days: 3651 }],
  ])("when %s it is 400, nothing is mailed, and the application stays pending", async (cause, body) => {
    const id = await applied();
    if (cause === "the host refuses") app.host.failing.add("createAccount");
    const answer = await review(id, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).not.toBe("");
    expect(await statusOf(id)).toBe("pending");
    expect(await userNamed(name)).toBeUndefined();
    expect(app.host.accounts.has(`ext_${name}`)).toBe(false);
    expect(await outcomes()).toHaveLength(0);
    expect(await app.lastAudit("approval.review")).toMatchObject({ result: "failed", detail: { username: name } });
    app.host.failing.clear();
    expect((await review(id, { approve: true })).status).toBe(200);
  });

  test.each([[{}], [{ approve: "true" }], [{ approve: null }], [{ approve: true, create_user: "no" }], [[]]])(
    "refuses the body %j with 400",
    async (body) => {
      const id = await applied();
      expect((await review(id, body)).status).toBe(400);
      expect(await statusOf(id)).toBe("pending");
    },
  );

  test("answers an invalid id with 400 and an unknown one with 404", async () => {
    expect((await review("x", { approve: true })).status).toBe(400);
    for (const id of [0, 999_999, "9".repeat(30)]) expect((await review(id, { approve: true })).status).toBe(404);
  });
});

describe("a flood of applications", () => {
  let flood: TestApp;
  let keeper: Client;
  const send = (n: number) =>
    flood.anonymous().call("POST", "/approvals", { username: `f${n}`, email: `f${n}@example.org` });
  const told = async () => (await flood.mails("admin@example.org")).map(({ subject }) => subject);

  beforeEach(async () => {
    flood = await createTestApp();
    keeper = await flood.admin();
  });
  afterEach(() => flood.close());

  test("at most 200 are pending, even of more sent at once; then it is 429 until one is decided", async () => {
    await flood.db.insert(approvals).values(
      Array.from({ length: 195 }, (_, n) => ({
        username: `old${n}`,
        email: "o@example.org",
        createdAt: flood.clock.now(),
      })),
    );
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => send(n)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array.from({ length: 5 }, () => 201), ...Array.from({ length: 7 }, () => 429)]);
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get("retry-after"))).toBe(3600);
    expect(refused?.body.error).toContain("Too many applications");
    expect(await flood.lastAudit("approval.submit")).toMatchObject({ result: "failed" });
    await keeper.call("POST", "/approvals/1/review", { approve: false, reason: "no" });
    expect((await send(99)).status).toBe(201);
  });

  test("the administrators are mailed the first at once and the rest gathered, at most once in ten minutes", async () => {
    await Promise.all(Array.from({ length: 30 }, (_, n) => send(n)));
    expect(await told()).toEqual([expect.stringContaining("Access application from")]);
    flood.clock.advance(10 * MINUTE - 1);
    await tellOfWaitingApplications(flood.services);
    expect(await told()).toHaveLength(1);
    await keeper.call("POST", "/approvals/30/review", { approve: false, reason: "no" });
    flood.clock.advance(1);
    await tellOfWaitingApplications(flood.services);
    expect(await told()).toEqual([expect.any(String), expect.stringContaining("28 new applications")]);
    const [, gathered] = await flood.mails("admin@example.org");
    expect(gathered?.text.match(/f\d+@example\.org/g)).toHaveLength(20);
    expect(gathered?.text).toContain("And 8 more.");
    flood.clock.advance(HOUR);
    await tellOfWaitingApplications(flood.services);
    expect(await told()).toHaveLength(2);
    await send(31);
    expect((await told()).at(-1)).toContain("f31");
  });

  test("a clock that was set back keeps no application from the administrators", async () => {
    await send(1);
    flood.clock.advance(-DAY);
    await send(2);
    expect(await told()).toHaveLength(2);
  });
});

describe("listApplications()", () => {
  test("pages newest first and filters by status", async () => {
    const other = await createTestApp();
    const reader = await other.admin();
    for (const username of ["a1", "a2", "a3"]) {
      await other.anonymous().call("POST", "/approvals", { username, email: "a@example.org" });
    }
    await reader.call("POST", "/approvals/2/review", { approve: false, reason: "no" });
    const names = async (query: string) => {
      const { body } = await reader.call("GET", `/approvals${query}`);
      return [body.data.total, ...body.data.items.map((item: { username: string }) => item.username)];
    };
    expect(await names("")).toEqual([3, "a3", "a2", "a1"]);
    expect(await names("?status=pending")).toEqual([2, "a3", "a1"]);
    expect(await names("?status=rejected")).toEqual([1, "a2"]);
    expect(await names("?status=approved")).toEqual([0]);
    expect(await names("?page=2&page_size=2")).toEqual([3, "a1"]);
    expect(await names("?page=9")).toEqual([3]);
    expect((await reader.call("GET", "/approvals?status=gone")).status).toBe(400);
    await other.close();
  });
});
