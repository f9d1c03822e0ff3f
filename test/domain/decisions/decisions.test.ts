/** What sponsors are asked by a link: opening it decides nothing, it answers one question for one address, and once. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { noteClosing } from "../../../src/domain/accounts/closings.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { askWaitingSponsors } from "../../../src/domain/sponsors/asking.ts";
import { purgeQuestions } from "../../../src/domain/sponsors/questions.ts";
import { DAY, HOUR } from "../../../src/shared/time/clock.ts";
import { questions } from "../../../src/store/schema-auth.ts";
import { type Answer, type Client, createTestApp, type TestApp } from "../../support/app.ts";

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
const look = (token: string) => app.anonymous().call("POST", "/decisions/look", { token });
const decide = (token: string, ...answers: object[]) => app.anonymous().call("POST", "/decisions", { token, answers });
const isOpen = (username: string) => app.host.accounts.get(`ext_${username}`)?.open;

/** The token in the newest mail to the address. */
async function tokenTo(email: string): Promise<string> {
  const text = (await app.mails(email)).at(-1)?.text ?? "";
  return /\/decide#(\S+)/.exec(text)?.[1] ?? "";
}

async function apply(sponsor: string, fields: object = {}) {
  const username = fresh("applicant");
  const body = { username, email: `${username}@example.org`, sponsor_email: sponsor, ...fields };
  const answer = await app.anonymous().call("POST", "/approvals", body);
  expect(answer.status).toBe(201);
  return { id: answer.body.data.id as number, username };
}

async function user(fields: object = {}) {
  const [username, sponsor] = [fresh("user"), `${fresh("bo")}@example.com`];
  const body = { username, email: `${username}@example.org`, sponsor_email: sponsor, purpose: "Builds", ...fields };
  const answer = await admin.call("POST", "/users", body);
  expect(answer.status).toBe(201);
  return { id: answer.body.data.id as number, username, sponsor };
}

const application = async (id: number) =>
  (await admin.call("GET", "/approvals?page_size=100")).body.data.items.find((one: { id: number }) => one.id === id);
const statusOf = async (id: number) => (await admin.call("GET", `/users/${id}`)).body.data.status;

describe("vouch", () => {
  test("the sponsor is mailed, sees what was typed, and vouches with a reason, on record", async () => {
    const sponsor = `${fresh("bo")}@example.com`;
    const { id, username } = await apply(sponsor.toUpperCase(), { full_name: "Alice A", purpose: "Build servers" });
    expect(await application(id)).toMatchObject({
      sponsor_email: sponsor,
      sponsor_answer: "asked",
      sponsor_reason: "",
    });
    const token = await tokenTo(sponsor);
    const asked = (await look(token)).body.data;
    expect(asked).toMatchObject({ kind: "vouch", items: [{ id, username }], answered: null });
    expect(asked.question).toStartWith(`${sponsor}, do you answer for`);
    expect(asked.items[0].evidence).toContainEqual({ name: "Purpose", value: "Build servers" });
    const { body } = await decide(token, { id, answer: "vouch", reason: "He is ours" });
    const at = app.clock.now().toISOString();
    expect(body.data).toEqual({ answered: [{ id, answer: "vouch", reason: "He is ours", until: null, at }] });
    expect(await application(id)).toMatchObject({ sponsor_answer: "vouched", sponsor_reason: "He is ours" });
    expect(await app.lastAudit("sponsor.vouch")).toMatchObject({
      ...{ actorType: "sponsor", actor: sponsor, ip: "192.0.2.1", result: "success" },
      detail: { application: id, username, reason: "He is ours" },
    });
    expect((await look(token)).body.data.answered).toMatchObject([{ id, answer: "vouch", reason: "He is ours" }]);
    expect(reasonOf(await decide(token, { id, answer: "decline" }))).toBe("409 decision.answered");
  });

  test("a link that is opened by everything that opens links decides nothing", async () => {
    const sponsor = `${fresh("bo")}@example.com`;
    const { id } = await apply(sponsor);
    const token = await tokenTo(sponsor);
    const before = (await app.auditRows()).length;
    for (let n = 0; n < 1000; n++) {
      if (n % 3 === 0) await look(token);
      else
        await app.app.fetch(
          new Request(`http://127.0.0.1:8080/decide`, { method: n % 2 ? "GET" : "HEAD" }),
          "192.0.2.9",
        );
    }
    expect(await application(id)).toMatchObject({ sponsor_answer: "asked" });
    expect((await app.auditRows()).length).toBe(before);
  });

  test("of two answers at the same instant one is given", async () => {
    const sponsor = `${fresh("bo")}@example.com`;
    const { id } = await apply(sponsor);
    const token = await tokenTo(sponsor);
    const answers = await Promise.all(["vouch", "decline"].map((answer) => decide(token, { id, answer })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const won = answers.find(({ status }) => status === 200)?.body.data.answered[0].answer;
    expect((await application(id)).sponsor_answer).toBe(won === "vouch" ? "vouched" : "declined");
  });

  test("a link answers nothing but what it asks, all of it or nothing", async () => {
    const sponsor = `${fresh("bo")}@example.com`;
    const [one, other] = [await apply(sponsor), await apply(`${fresh("eva")}@example.com`)];
    const token = await tokenTo(sponsor);
    for (const answers of [
      [
        { id: one.id, answer: "vouch" },
        { id: other.id, answer: "vouch" },
      ],
      [
        { id: one.id, answer: "vouch" },
        { id: one.id, answer: "decline" },
      ],
      [{ id: one.id, answer: "end" }],
      [{ id: one.id, answer: "vouch", until: "2030-01-01T00:00:00Z" }],
      [],
    ]) {
      expect(reasonOf(await decide(token, ...answers))).toBe("400 request.invalid");
    }
    expect([(await application(one.id)).sponsor_answer, (await application(other.id)).sponsor_answer]).toEqual([
      ...["asked", "asked"],
    ]);
    expect(reasonOf(await look("A".repeat(43)))).toBe("404 decision.missing");
  });

  test("an application that was decided is asked about no more, and an old link is dead", async () => {
    const sponsor = `${fresh("bo")}@example.com`;
    const { id } = await apply(sponsor);
    const token = await tokenTo(sponsor);
    await admin.call("POST", `/approvals/${id}/review`, { approve: false, reason: "No" });
    expect(reasonOf(await look(token))).toBe("409 decision.closed");
    expect(reasonOf(await decide(token, { id, answer: "vouch" }))).toBe("409 decision.closed");
    app.clock.advance(14 * DAY);
    expect(reasonOf(await look(token))).toBe("404 decision.missing");
    admin = await app.admin();
  });

  test("of several in one link, one that was decided meanwhile is closed, and refuses the rest with it", async () => {
    const sponsor = `${fresh("bo")}@example.com`;
    const first = await apply(sponsor);
    const others = [await apply(sponsor), await apply(sponsor)];
    await admin.call("POST", `/approvals/${first.id}/review`, { approve: false, reason: "No" });
    app.clock.advance(HOUR);
    await askWaitingSponsors(app.services);
    const token = await tokenTo(sponsor);
    const [decided, pending] = others.map(({ id }) => id) as [number, number];
    await admin.call("POST", `/approvals/${decided}/review`, { approve: false, reason: "No" });
    const both = [decided, pending].map((id) => ({ id, answer: "vouch" }));
    expect(reasonOf(await decide(token, ...both))).toBe("409 decision.closed");
    expect((await application(pending)).sponsor_answer).toBe("asked");
    expect(reasonOf(await decide(token, { id: pending, answer: "vouch" }))).toBe("200 null");
    expect(reasonOf(await decide(token, { id: decided, answer: "vouch" }))).toBe("409 decision.closed");
  });

  test("whoever floods a stranger by applications gets them one mail an hour and five a day, gathered", async () => {
    const sponsor = `${fresh("eve")}@example.com`;
    const mailed = async () =>
      (await app.mails()).filter(({ recipient }) => recipient.startsWith(sponsor.split("@")[0] ?? ""));
    const first = await apply(sponsor);
    const later = [await apply(sponsor), await apply(sponsor.replace("@", "+x@"))];
    expect((await mailed()).length).toBe(1);
    expect((await application(later[0]?.id ?? 0)).sponsor_answer).toBe("none");
    for (let hour = 0; hour < 24; hour++) {
      app.clock.advance(HOUR);
      await apply(sponsor, { purpose: "Dear Bo, please press" });
      await askWaitingSponsors(app.services);
    }
    const mails = await mailed();
    expect(mails.length).toBeLessThanOrEqual(6);
    expect(mails[1]?.text.match(/^> Username: /gm)?.length).toBeGreaterThan(1);
    expect((await look(/#(\S+)/.exec(mails[0]?.text ?? "")?.[1] ?? "")).body.data.items[0].id).toBe(first.id);
    admin = await app.admin();
  });

  test("nothing that an applicant types stands in a line of ours", async () => {
    const sponsor = `${fresh("bo")}@example.com`;
    const purpose = `Urgent. ${"See it and answer: https://evil.example/ ".repeat(8)}`;
    await apply(sponsor, { purpose, full_name: "Your bank: press here" });
    const mail = (await app.mails(sponsor)).at(-1);
    const lines = (mail?.text ?? "").split("\n");
    expect(lines.filter((line) => /evil|bank|Urgent/.test(line)).every((line) => line.startsWith("> "))).toBe(true);
    expect(mail?.subject).not.toMatch(/evil|bank|applicant\d/);
  });
});

describe("end", () => {
  test("the sponsor of a new user is told, and can end the access, as any closing", async () => {
    const { id, username, sponsor } = await user();
    const token = await tokenTo(sponsor);
    expect((await look(token)).body.data).toMatchObject({ kind: "end", items: [{ id, username }], answered: null });
    const { body } = await decide(token, { id, answer: "end", reason: "Left us" });
    expect(body.data.effective_by).toBe(app.clock.now().toISOString());
    expect([await statusOf(id), isOpen(username)]).toEqual(["disabled", false]);
    expect(await app.lastAudit("sponsor.end")).toMatchObject({
      ...{ actorType: "sponsor", actor: sponsor, subjectId: id, resourceId: String(id), result: "success" },
      detail: { username, reason: "Left us", status: "disabled" },
    });
    expect((await look(token)).body.data.answered).toMatchObject([{ id, answer: "end", reason: "Left us" }]);
    expect(reasonOf(await decide(token, { id, answer: "end" }))).toBe("409 decision.answered");
  });

  test("of two at the same instant one ends it, once on record", async () => {
    const { id, sponsor } = await user();
    const token = await tokenTo(sponsor);
    const before = (await app.auditRows("sponsor.end")).length;
    const answers = await Promise.all([1, 2].map(() => decide(token, { id, answer: "end" })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await app.auditRows("sponsor.end")).length).toBe(before + 1);
  });

  test("who was replaced can end nothing any more, also after they came back", async () => {
    const { id, sponsor } = await user();
    const token = await tokenTo(sponsor);
    const set = (email: string) => admin.call("PATCH", `/users/${id}`, { sponsor_email: email });
    const next = `${fresh("eva")}@example.com`;
    expect((await set(next)).body.data.sponsor_email).toBe(next);
    expect(reasonOf(await look(token))).toBe("404 decision.missing");
    expect(reasonOf(await decide(token, { id, answer: "end" }))).toBe("404 decision.missing");
    expect((await look(await tokenTo(next))).body.data.items[0].id).toBe(id);
    await set(sponsor);
    expect(reasonOf(await decide(token, { id, answer: "end" }))).toBe("404 decision.missing");
    expect(await statusOf(id)).toBe("active");
  });

  test("a company's sponsor counts where the user has none", async () => {
    const boss = `${fresh("boss")}@example.com`;
    const company = (await admin.call("POST", "/companies", { name: fresh("Lindqvist"), sponsor_email: boss })).body
      .data;
    const { id } = await user({ company_id: company.id, sponsor_email: "" });
    const token = await tokenTo(boss);
    expect((await look(token)).body.data.items[0].id).toBe(id);
    await admin.call("PATCH", `/companies/${company.id}`, { sponsor_email: "" });
    expect(reasonOf(await decide(token, { id, answer: "end" }))).toBe("404 decision.missing");
  });

  test("a host that fails refuses nothing: the user is disabled, the rest is owed, and the link is answered", async () => {
    const { id, username, sponsor } = await user();
    const token = await tokenTo(sponsor);
    app.host.failing.add("endProcesses");
    expect(reasonOf(await decide(token, { id, answer: "end" }))).toBe("500 access.owed");
    app.host.failing.clear();
    expect(await statusOf(id)).toBe("disabled");
    expect((await look(token)).body.data.answered).toMatchObject([{ id, answer: "end" }]);
    app.clock.advance(HOUR);
    await finishClosings(app.services);
    expect(isOpen(username)).toBe(false);
    admin = await app.admin();
  });

  test("what a crash interrupted is finished and recorded in the sponsor's name, and is asked no more", async () => {
    const { id, username, sponsor } = await user();
    const token = await tokenTo(sponsor);
    const actor = { type: "sponsor", name: sponsor, ip: "" } as const;
    const closing = { userId: id, kind: "shut", action: "sponsor.end", reason: "Left us" } as const;
    await noteClosing({ ...app.system, actor }, closing);
    await finishClosings(app.services);
    expect([await statusOf(id), isOpen(username)]).toEqual(["disabled", false]);
    expect(await app.lastAudit("sponsor.end")).toMatchObject({
      ...{ actorType: "sponsor", actor: sponsor, subjectId: id, result: "success" },
      detail: { username, reason: "Left us", status: "disabled" },
    });
    expect(reasonOf(await decide(token, { id, answer: "end" }))).toBe("409 decision.closed");
  });

  test("who has lost access otherwise is asked about no more", async () => {
    const { id, sponsor } = await user();
    await admin.call("POST", `/users/${id}/disable`);
    expect(reasonOf(await decide(await tokenTo(sponsor), { id, answer: "end" }))).toBe("409 decision.closed");
  });

  test("of several in one link, who has lost access otherwise is closed, and the rest can still be ended", async () => {
    const [one, other] = [await user(), await user()];
    const next = `${fresh("eva")}@example.com`;
    await admin.call("PATCH", `/users/${other.id}`, { sponsor_email: one.sponsor });
    await admin.call("POST", "/sponsors/move", { from: one.sponsor, to: next });
    const token = await tokenTo(next);
    await admin.call("POST", `/users/${one.id}/disable`);
    const both = [one.id, other.id].map((id) => ({ id, answer: "end" }));
    expect(reasonOf(await decide(token, ...both))).toBe("409 decision.closed");
    expect(isOpen(other.username)).toBe(true);
    expect(reasonOf(await decide(token, { id: other.id, answer: "end" }))).toBe("200 null");
    expect(reasonOf(await decide(token, { id: one.id, answer: "end" }))).toBe("409 decision.closed");
    expect(reasonOf(await decide(token, { id: other.id, answer: "end" }))).toBe("409 decision.answered");
  });

  test("tokens are stored as hashes only, and rows go once they are of no use", async () => {
    const { sponsor } = await user();
    const token = await tokenTo(sponsor);
    expect(token.length).toBe(43);
    const rows = await app.db.select().from(questions);
    expect(JSON.stringify(rows.map((row) => Buffer.from(row.tokenHash).toString("base64url")))).not.toContain(token);
    app.clock.advance(500 * DAY);
    await purgeQuestions(app.services);
    expect(await app.db.select().from(questions)).toEqual([]);
  });
});

test("a token for one question answers no other, also about what has the same id", async () => {
  // Sessions do not last as long as the tests before.
  admin = await app.admin();
  const sponsor = `${fresh("bo")}@example.com`;
  const tokens = new Map<string, { token: string; id: number; answer: string }>();
  const people = [];
  for (let n = 0; n < 3; n++) people.push(await user({ sponsor_email: sponsor }));
  const [first] = people;
  const { id: review } = (await admin.call("POST", "/reviews", { scope: { sponsor }, due_days: 10 })).body.data;
  const asked = [];
  // Until an application has the id of one of the users.
  while (asked.at(-1)?.id === undefined || (asked.at(-1)?.id ?? 0) < (first?.id ?? 0)) asked.push(await apply(sponsor));
  app.clock.advance(HOUR);
  await askWaitingSponsors(app.services);
  for (const { text } of await app.mails(sponsor)) {
    const token = /\/decide#(\S+)/.exec(text)?.[1] ?? "";
    const { kind, items } = (await look(token)).body.data;
    const answer = { vouch: "vouch", end: "end", review: "shorten" }[kind as string] ?? "";
    tokens.set(kind, { token, id: items.at(-1).id, answer });
  }
  expect([...tokens.keys()].sort()).toEqual(["end", "review", "vouch"]);
  const until = new Date(app.clock.now().getTime() + DAY).toISOString();
  for (const [kind, { token }] of tokens) {
    for (const [other, { id, answer }] of tokens) {
      if (kind === other || (kind === "review" && other === "end")) continue;
      const given = { id, answer, ...(answer === "shorten" ? { until } : {}) };
      expect([kind, other, (await decide(token, given)).status]).toEqual([kind, other, 400]);
    }
  }
  expect(await Promise.all(people.map(({ id }) => statusOf(id)))).toEqual(["active", "active", "active"]);
  expect((await admin.call("GET", `/reviews/${review}`)).body.data.unanswered).toBe(3);
});

test("with sponsors off no address is taken, nobody is mailed, and links are dead", async () => {
  const off = await createTestApp({ UAM_SPONSOR: "off" });
  try {
    const client = await off.admin();
    const body = { username: "alice", email: "alice@example.org", sponsor_email: "bo@example.com" };
    expect(reasonOf(await client.call("POST", "/users", body))).toBe("400 sponsor.invalid");
    expect(reasonOf(await off.anonymous().call("POST", "/approvals", body))).toBe("400 sponsor.invalid");
    expect((await client.call("POST", "/users", { ...body, sponsor_email: "" })).status).toBe(201);
    expect(await off.mails("bo@example.com")).toEqual([]);
    expect(reasonOf(await off.anonymous().call("POST", "/decisions/look", { token: "A".repeat(43) }))).toBe(
      "404 decision.missing",
    );
  } finally {
    await off.close();
  }
});
