/** Who answers for users: the rules for an address, its list, its move, and mail that does not reach it. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { askWaitingSponsors } from "../../../src/domain/sponsors/asking.ts";
import { parseSponsor, sponsorOf } from "../../../src/domain/sponsors/sponsor-email.ts";
import { deliverDue } from "../../../src/server/mail/delivery.ts";
import { type Answer, type Client, createTestApp, loginUser, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
});
afterAll(() => app.close());

const fresh = (what: string) => `${what}${++count}`;
const reasonOf = ({ status, headers }: Answer) => `${status} ${headers.get("uam-error")}`;
const create = (fields: object, client = admin) => {
  const username = fresh("user");
  return client.call("POST", "/users", { username, email: `${username}@example.org`, ...fields });
};
const move = (from: string, to: string, query = "") => admin.call("POST", `/sponsors/move${query}`, { from, to });
const listed = async (email: string) =>
  (await admin.call("GET", "/sponsors?page_size=100")).body.data.items.find(
    (one: { email: string }) => one.email === email,
  );

describe("parseSponsor", () => {
  const any = { mode: "optional", domains: [] } as const;
  test.each([
    ["", ""],
    [" Bo@Example.com ", "bo@example.com"],
  ])("%j is %j", (given, is) => expect(parseSponsor(any, { sponsorEmail: given })).toBe(is));

  test.each(["alice@example.org", "ALICE@example.org", "alice+boss@example.org", "a.lice@example.org"])(
    "%s is the user's own mailbox, and refused",
    (sponsorEmail) => {
      expect(() => parseSponsor(any, { sponsorEmail, email: "alice@example.org" })).toThrow("their own sponsor");
    },
  );

  test("only the domains that are allowed: subdomains only where an entry begins with a dot", () => {
    const some = { mode: "optional", domains: ["example.com", ".corp.example"] } as const;
    const isAllowed = (sponsorEmail: string) => {
      try {
        return parseSponsor(some, { sponsorEmail }) !== "";
      } catch {
        return false;
      }
    };
    expect(["a@example.com", "a@EXAMPLE.com", "a@x.corp.example"].map(isAllowed)).toEqual([true, true, true]);
    expect(["a@x.example.com", "a@corp.example", "a@notexample.com", "a@xcorp.example"].map(isAllowed)).toEqual([
      ...[false, false, false, false],
    ]);
  });
});

test("sponsorOf() is the user's, else their company's, and never the user", () => {
  const company = { sponsorEmail: "Boss@example.com" };
  expect(sponsorOf({ email: "a@b.c", sponsorEmail: "bo@b.c" }, company)).toBe("bo@b.c");
  expect(sponsorOf({ email: "a@b.c", sponsorEmail: "" }, company)).toBe("boss@example.com");
  expect(sponsorOf({ email: "boss@example.com", sponsorEmail: "" }, company)).toBe("");
  expect(sponsorOf({ email: "a@b.c", sponsorEmail: "" }, undefined)).toBe("");
});

describe("PATCH /users/:id", () => {
  test("a user cannot become their own sponsor, by either address", async () => {
    const { body } = await create({ sponsor_email: "pat@example.com" });
    const change = (fields: object) => admin.call("PATCH", `/users/${body.data.id}`, fields);
    expect(reasonOf(await change({ email: "pat@example.com" }))).toBe("400 sponsor.invalid");
    expect(reasonOf(await change({ email: "q@example.com", sponsor_email: "q@example.com" }))).toBe(
      "400 sponsor.invalid",
    );
    expect((await change({ email: "pat@example.com", sponsor_email: "" })).status).toBe(200);
    expect(await app.lastAudit("user.update")).toMatchObject({
      detail: { sponsor_email: "", old_sponsor_email: "pat@example.com" },
    });
  });
});

describe("?sponsor=", () => {
  test("finds whom an address answers for, themselves or for their company, and whom nobody does", async () => {
    const app = await createTestApp();
    const client = await app.admin();
    const company = { name: "Ahlgren", sponsor_email: "Vera@example.com" };
    const { id: company_id } = (await client.call("POST", "/companies", company)).body.data;
    const empty = (await client.call("POST", "/companies", { name: "Bodin" })).body.data.id;
    const make = (username: string, fields: object) =>
      client.call("POST", "/users", { username, email: `${username}@example.org`, ...fields });
    await make("own", { sponsor_email: "vera@example.com" });
    await make("by-company", { company_id });
    await make("of-another", { company_id, sponsor_email: "bo@example.com" });
    await make("herself", { company_id, email: "vera@example.com" });
    await make("nobody", {});
    await make("of-empty", { company_id: empty });
    const found = async (query: string) => {
      const { body } = await client.call("GET", `/users?${query}&sort=username`);
      const names = body.data.items.map(({ username }: { username: string }) => username);
      expect(body.data.total).toBe(names.length);
      return names;
    };
    for (const more of ["", "&q=example"]) {
      expect(await found(`sponsor=VERA@example.com${more}`)).toEqual(["by-company", "own"]);
      expect(await found(`sponsor=none${more}`)).toEqual(["herself", "nobody", "of-empty"]);
    }
    expect(await found(`sponsor=vera@example.com&company=${company_id}`)).toEqual(["by-company"]);
    expect(await found("sponsor=nowhere@example.com")).toEqual([]);
    const listed = (await client.call("GET", "/sponsors")).body.data.items;
    expect(listed).toContainEqual(expect.objectContaining({ email: "vera@example.com", users: 2 }));
    const file = await client.call("GET", "/users/export?format=csv&sponsor=vera@example.com");
    for (const name of ["own", "by-company"]) expect(file.text).toContain(`${name}@example.org`);
    expect(file.text).not.toContain("nobody@example.org");
    expect((await app.lastAudit("user.export"))?.detail).toMatchObject({ sponsor: "vera@example.com" });
    await app.close();
  });
});

describe("UAM_SPONSOR=required", () => {
  let strict: TestApp;
  beforeAll(async () => {
    strict = await createTestApp({ UAM_SPONSOR: "required" });
  });
  afterAll(() => strict.close());

  test("nobody is created without one, and nobody loses the last", async () => {
    const client = await strict.admin();
    expect(reasonOf(await create({}, client))).toBe("409 sponsor.missing");
    const company = { name: "Lindqvist", sponsor_email: "boss@example.com" };
    const { id } = (await client.call("POST", "/companies", company)).body.data;
    expect((await create({ company_id: id }, client)).status).toBe(201);
    const made = (await create({ sponsor_email: "bo@example.com" }, client)).body.data;
    expect(reasonOf(await client.call("PATCH", `/users/${made.id}`, { sponsor_email: "" }))).toBe(
      "409 sponsor.missing",
    );
    expect((await client.call("PATCH", `/users/${made.id}`, { sponsor_email: "", company_id: id })).status).toBe(200);
    expect((await client.call("PATCH", `/users/${made.id}`, { purpose: "Builds" })).status).toBe(200);
    expect(reasonOf(await client.call("PATCH", `/users/${made.id}`, { company_id: null }))).toBe("409 sponsor.missing");
  });

  test("an application is approved only once the sponsor vouched", async () => {
    const client = await strict.admin();
    const apply = async (fields: object) => {
      const username = fresh("applicant");
      const body = { username, email: `${username}@example.org`, ...fields };
      return (await strict.anonymous().call("POST", "/approvals", body)).body.data.id;
    };
    const approve = (id: number) => client.call("POST", `/approvals/${id}/review`, { approve: true });
    expect(reasonOf(await approve(await apply({})))).toBe("409 sponsor.missing");
    const id = await apply({ sponsor_email: "vera@example.com" });
    expect(reasonOf(await approve(id))).toBe("409 sponsor.pending");
    const token = /#(\S+)/.exec((await strict.mails("vera@example.com")).at(-1)?.text ?? "")?.[1];
    const answers = [{ id, answer: "vouch" }];
    expect((await strict.anonymous().call("POST", "/decisions", { token, answers })).status).toBe(200);
    const others = { approve: true, sponsor_email: "bo@example.com" };
    expect(reasonOf(await client.call("POST", `/approvals/${id}/review`, others))).toBe("409 sponsor.pending");
    expect((await approve(id)).status).toBe(200);
    const { subject } = (await strict.mails("vera@example.com")).at(-1) ?? {};
    expect(subject).toStartWith("You answer for applicant");
  });

  test("what a manager applies for is asked of the company's sponsor, who stays the company's", async () => {
    const client = await strict.admin();
    const boss = "lead@example.com";
    const { id } = (await client.call("POST", "/companies", { name: "Berg", sponsor_email: boss })).body.data;
    const manager = (await create({ company_id: id, manager: true }, client)).body.data;
    const theirs = await loginUser(strict.system, strict.app, manager.username);
    const person = { username: fresh("colleague"), email: "colleague@example.org", purpose: "Tests" };
    const application = (await theirs.call("POST", "/me/company/applications", person)).body.data.id;
    const approve = (given = {}) =>
      client.call("POST", `/approvals/${application}/review`, { approve: true, ...given });
    const other = (await client.call("POST", "/companies", { name: "Tal" })).body.data.id;
    expect(reasonOf(await approve())).toBe("409 sponsor.pending");
    const token = /#(\S+)/.exec((await strict.mails(boss)).at(-1)?.text ?? "")?.[1];
    const answers = [{ id: application, answer: "vouch" }];
    expect((await strict.anonymous().call("POST", "/decisions", { token, answers })).status).toBe(200);
    expect((await approve({ company_id: other })).status).toBe(400);
    expect((await approve()).status).toBe(200);
    const [made] = (await client.call("GET", `/users?q=${person.username}`)).body.data.items;
    expect(made).toMatchObject({ company_id: id, sponsor_email: "" });
  });
});

describe("POST /sponsors/move", () => {
  test("all of theirs, companies and applications included; the new one is told, old links are dead", async () => {
    const [from, to] = [`${fresh("bo")}@example.com`, `${fresh("eva")}@example.com`];
    const made = (await create({ sponsor_email: from })).body.data;
    const token = /#(\S+)/.exec((await app.mails(from)).at(-1)?.text ?? "")?.[1] ?? "";
    const company = (await admin.call("POST", "/companies", { name: fresh("AB"), sponsor_email: from })).body.data;
    await create({ company_id: company.id });
    const applicant = { username: fresh("applicant"), email: "x@example.org", sponsor_email: from };
    const { id } = (await app.anonymous().call("POST", "/approvals", applicant)).body.data;
    const preview = (await move(from, to, "?preview=true")).body.data;
    expect([preview.moved, preview.effects.length]).toEqual([2, 4]);
    expect(await listed(from)).toMatchObject({ users: 2 });
    expect((await move(from.toUpperCase(), to)).body.data).toEqual({ moved: 2 });
    expect([await listed(from), await listed(to)]).toMatchObject([
      undefined,
      { users: 2, undeliverable: false },
    ] as never);
    expect((await admin.call("GET", `/companies/${company.id}`)).body.data.sponsor_email).toBe(to);
    expect(await app.lastAudit("sponsor.move")).toMatchObject({
      detail: { from, to, users: 2, companies: 1, applications: 1 },
    });
    expect(await app.lastAudit("user.update")).toMatchObject({
      subjectId: made.id,
      detail: { old_sponsor_email: from },
    });
    expect(reasonOf(await app.anonymous().call("POST", "/decisions/look", { token }))).toBe("404 decision.missing");
    const mails = await app.mails(to);
    expect(mails.map(({ subject }) => subject)).toEqual([
      expect.stringContaining("You answer for 2 people"),
      expect.stringContaining("Do you answer for somebody"),
    ]);
    const [application] = (await admin.call("GET", "/approvals")).body.data.items;
    expect(application).toMatchObject({ id, sponsor_email: to, sponsor_answer: "asked" });
    expect((await move(from, to)).body.data).toEqual({ moved: 0 });
  });

  test("refuses an address that cannot be theirs, and changes nothing", async () => {
    const from = `${fresh("bo")}@example.com`;
    await create({ sponsor_email: from, email: "self@example.org" });
    expect(reasonOf(await move(from, "self@example.org"))).toBe("400 sponsor.invalid");
    expect(reasonOf(await move(from, from))).toBe("400 request.invalid");
    expect(reasonOf(await move(from, ""))).toBe("400 request.invalid");
    expect(await listed(from)).toMatchObject({ users: 1 });
  });

  test("an applicant with the new address does not keep others from being moved", async () => {
    const [from, to] = [`${fresh("bo")}@example.com`, `${fresh("eva")}@example.com`];
    await create({ sponsor_email: from });
    await app.anonymous().call("POST", "/approvals", { username: fresh("x"), email: to, sponsor_email: from });
    expect((await move(from, to)).body.data).toEqual({ moved: 1 });
  });
});

describe("mail that does not reach a sponsor", () => {
  afterEach(() => askWaitingSponsors(app.services));

  test("is a problem from the refusal on, until one is accepted", async () => {
    const email = `${fresh("gone")}@example.com`;
    const { id } = (await create({ sponsor_email: email })).body.data;
    const transport = (refuses: boolean) => ({
      send: async ({ to }: { to: string }) =>
        refuses && to === email
          ? ({ kind: "reject", reason: "550 5.1.1 no such user" } as const)
          : ({ kind: "sent" } as const),
      verify: async () => {},
      close: async () => {},
    });
    await deliverDue(app.services, transport(true));
    expect(await listed(email)).toMatchObject({ undeliverable: true });
    const { sponsors, problems } = (await admin.call("GET", "/admin/attention")).body.data;
    expect(sponsors).toEqual([
      { email, users: 1, since: app.clock.now().toISOString(), problem: "550 5.1.1 no such user" },
    ]);
    expect(problems).toBeGreaterThan(0);
    const set = (sponsor: string) => admin.call("PATCH", `/users/${id}`, { sponsor_email: sponsor });
    await set("");
    expect((await admin.call("GET", "/admin/attention")).body.data.sponsors).toEqual([]);
    await set(email);
    await deliverDue(app.services, transport(false));
    expect(await listed(email)).toMatchObject({ undeliverable: false });
  });
});
