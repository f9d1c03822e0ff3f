/** A sponsor answers in a review by the link of one mail: for their people, once, and for nobody else's. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createGroup } from "../../../src/domain/hosts/groups.ts";
import { endHold } from "../../../src/domain/lifecycle/heartbeat.ts";
import { createProfile } from "../../../src/domain/profiles/profiles.ts";
import { workOnReviews } from "../../../src/domain/reviews/due.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { createUser } from "../../../src/domain/users/users.ts";
import { DAY } from "../../../src/shared/time/clock.ts";
import { type Answer, type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
});
afterAll(() => app.close());

const reasonOf = ({ status, headers }: Answer) => `${status} ${headers.get("uam-error")}`;
const look = (token: string) => app.anonymous().call("POST", "/decisions/look", { token });
const decide = (token: string, answers: readonly object[]) =>
  app.anonymous().call("POST", "/decisions", { token, answers });
const isOpen = (username: string) => app.host.accounts.get(`ext_${username}`)?.open;

/** A company, a sponsor of some of its users, and a review of them. */
async function review(users: number) {
  const sponsor = `bo-${++count}@example.org`;
  const { id: company } = (await admin.call("POST", "/companies", { name: `Lindqvist-${count}` })).body.data;
  const made = [];
  for (let n = 0; n < users; n++) {
    const username = `user-${count}-${n}`;
    const fields = { username, email: `${username}@example.org`, companyId: company, sponsorEmail: sponsor };
    made.push(await createUser(app.system, fields));
  }
  const other = `other-${count}`;
  await createUser(app.system, { username: other, email: `${other}@example.org`, companyId: company });
  const { id } = (await admin.call("POST", "/reviews", { scope: { company }, due_days: 10 })).body.data;
  return { id: id as number, sponsor, users: made, token: await tokenOf(sponsor) };
}

/** The token in the newest mail about a review. */
async function tokenOf(sponsor: string): Promise<string> {
  const mails = (await app.mails(sponsor)).filter(({ subject }) => subject.includes("still right?"));
  return /#([\w-]{43})/.exec(mails.at(-1)?.text ?? "")?.[1] ?? "";
}

describe("the question of a review", () => {
  test("comes in one mail with all of theirs, shows the evidence, and decides nothing by being looked at", async () => {
    const { id, sponsor, users, token } = await review(3);
    expect((await app.mails(sponsor)).filter(({ subject }) => subject.includes("still right?"))).toHaveLength(1);
    for (let times = 0; times < 3; times++) await look(token);
    const { body } = await look(token);
    expect(body.data).toMatchObject({ kind: "review", answered: null });
    expect(body.data.question).toContain(sponsor);
    expect(body.data.items.map((item: { username: string }) => item.username)).toEqual(
      users.map(({ username }) => username),
    );
    const names = body.data.items[0].evidence.map(({ name }: { name: string }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["E-mail", "Company", "Has access until", "Hosts", "Keys", "Created"]),
    );
    expect((await admin.call("GET", `/reviews/${id}`)).body.data.unanswered).toBe(4);
    const listed = (await admin.call("GET", `/reviews/${id}/items`)).body.data.items;
    expect(listed.map((item: { asked: string }) => item.asked)).toEqual([sponsor, sponsor, sponsor, ""]);
    expect((await admin.call("GET", `/reviews/${id}/report?format=json`)).text).not.toContain('"asked"');
  });

  test("shows the hours of the week, to the sponsor and in what is stored of an answer", async () => {
    const { id, users, token } = await review(2);
    const hours = { zone: "Europe/Berlin", windows: [{ days: ["mon", "tue", "wed"], from: "08:00", to: "18:00" }] };
    const [timed, always] = users.map((user) => user.id) as [number, number];
    await admin.call("PATCH", `/users/${timed}`, { hours });
    const words = "mon-wed 08:00-18:00 Europe/Berlin";
    const facts = (await look(token)).body.data.items.map((item: { evidence: object[] }) => item.evidence);
    expect(facts[0]).toContainEqual({ name: "Hours", value: words });
    expect(JSON.stringify(facts[1])).not.toContain('"Hours"');
    await decide(token, [{ id: timed, answer: "keep" }]);
    await admin.call("PATCH", `/users/${timed}`, { hours: null });
    const stored = (await admin.call("GET", `/reviews/${id}/items`)).body.data.items;
    expect(stored.find((item: { user_id: number }) => item.user_id === timed).evidence.hours).toBe(words);
    expect(stored.find((item: { user_id: number }) => item.user_id === always).evidence.hours).toBe("");
  });

  test("shows what profiles let them do, their own and those of their groups, also in what is stored of an answer", async () => {
    const { id, users, token } = await review(2);
    const [bound, free] = users.map((user) => user.id) as [number, number];
    await createProfile(app.system, { name: "drop-box", kind: "sftp", directory: "/data/acme" });
    await createProfile(app.system, { name: "strong", kind: "shell", secondFactor: "verified" });
    await createGroup(app.system, { name: "careful", hosts: [], profile: "strong" });
    await updateUser(app.system, bound, { profile: "drop-box" });
    await admin.call("PUT", `/users/${free}/hosts`, { hosts: ["local"], groups: ["careful"] });
    const words = "drop-box: may copy files to and from /data/acme, nothing else";
    const facts = (await look(token)).body.data.items.map((item: { evidence: object[] }) => item.evidence);
    expect(facts[0]).toContainEqual({ name: "Profile", value: words });
    expect(facts[1]).toContainEqual({
      name: "Profile",
      value:
        "by group careful, strong: may log in and run programs, and forward connections, with a security key and its PIN",
    });
    await decide(token, [{ id: bound, answer: "keep" }]);
    await updateUser(app.system, bound, { profile: null });
    const stored = (await admin.call("GET", `/reviews/${id}/items`)).body.data.items;
    expect(stored.find((item: { user_id: number }) => item.user_id === bound).evidence.profile).toBe(words);
  });

  test("takes answers in parts, once each, in the sponsor's name, and shows them afterwards", async () => {
    const { id, sponsor, users, token } = await review(3);
    const [kept, ended, shortened] = users.map((user) => user.id) as [number, number, number];
    expect((await decide(token, [{ id: kept, answer: "keep" }])).body.data.answered).toMatchObject([
      { id: kept, answer: "keep" },
    ]);
    const until = new Date(app.clock.now().getTime() + 3 * DAY).toISOString();
    const several = [
      { id: ended, answer: "end", reason: "Left" },
      { id: shortened, answer: "shorten", until, reason: "Until Friday" },
    ];
    const done = (await decide(token, several)).body.data;
    expect(done.effective_by).toBe(app.clock.now().toISOString());
    expect([kept, ended].map((user) => users.find((one) => one.id === user)?.username ?? "").map(isOpen)).toEqual([
      true,
      false,
    ]);
    expect(await app.lastAudit("review.answer")).toMatchObject({
      ...{ actorType: "sponsor", actor: sponsor, subjectId: shortened, resourceId: String(id) },
    });
    expect(await app.lastAudit("user.shorten")).toMatchObject({ actorType: "sponsor", actor: sponsor });
    expect((await look(token)).body.data.answered).toHaveLength(3);
    expect(reasonOf(await decide(token, [{ id: kept, answer: "end" }]))).toBe("409 decision.answered");
    expect(isOpen(users[0]?.username ?? "")).toBe(true);
  });

  test("answers nothing else: another's people, another review, several without a reason, what there is not", async () => {
    const [one, other] = [await review(2), await review(1)];
    const [mine, theirs] = [one.users[0]?.id, other.users[0]?.id];
    const refused = [
      [{ id: theirs, answer: "end" }],
      [
        { id: mine, answer: "keep" },
        { id: theirs, answer: "end" },
      ],
      [{ id: mine, answer: "grace", until: new Date(app.clock.now().getTime() + DAY).toISOString() }],
      [{ id: mine, answer: "vouch" }],
      one.users.map(({ id }) => ({ id, answer: "keep" })),
    ];
    for (const answers of refused) expect((await decide(one.token, answers)).status).toBe(400);
    expect((await admin.call("GET", `/reviews/${one.id}`)).body.data.unanswered).toBe(3);
    expect((await admin.call("GET", `/reviews/${other.id}`)).body.data.unanswered).toBe(2);
  });

  test("of a sponsor and an administrator at the same instant counts one", async () => {
    const { id, users, token } = await review(1);
    const user = users[0]?.id ?? 0;
    const [sponsors, admins] = await Promise.all([
      decide(token, [{ id: user, answer: "keep" }]),
      admin.call("POST", `/reviews/${id}/items/${user}`, { answer: "end" }),
    ]);
    expect([sponsors.status, admins.status].sort()).toEqual([200, 409]);
    expect(isOpen(users[0]?.username ?? "")).toBe(sponsors.status === 200);
  });

  test("says of whom an administrator has answered for that they are answered, and of all of them that it is over", async () => {
    const { id, users, token } = await review(2);
    const [first, second] = users.map((user) => user.id) as [number, number];
    await admin.call("POST", `/reviews/${id}/items/${first}`, { answer: "keep" });
    expect((await look(token)).body.data.items.map((item: { id: number }) => item.id)).toEqual([second]);
    expect(reasonOf(await decide(token, [{ id: first, answer: "end" }]))).toBe("409 decision.answered");
    await admin.call("POST", `/reviews/${id}/items/${second}`, { answer: "keep" });
    expect(reasonOf(await look(token))).toBe("409 decision.closed");
    expect(reasonOf(await decide(token, [{ id: second, answer: "end" }]))).toBe("409 decision.answered");
    expect(users.map(({ username }) => isOpen(username))).toEqual([true, true]);
  });

  test("is dead for a sponsor who was replaced, and withdrawn with the review", async () => {
    const { id, users, token } = await review(1);
    await admin.call("PATCH", `/users/${users[0]?.id}`, { sponsor_email: "new@example.org" });
    expect(reasonOf(await look(token))).toBe("404 decision.missing");
    expect(reasonOf(await decide(token, [{ id: users[0]?.id, answer: "end" }]))).toBe("404 decision.missing");
    const next = await review(1);
    await admin.call("POST", `/reviews/${next.id}/close`, { unanswered: "report" });
    expect(reasonOf(await look(next.token))).toBe("409 decision.closed");
    expect(reasonOf(await decide(next.token, [{ id: next.users[0]?.id, answer: "end" }]))).toBe("409 decision.closed");
    await admin.call("POST", `/reviews/${id}/close`, { unanswered: "report" });
  });

  test("is asked of whoever becomes the sponsor while it is open, once, also on the last day", async () => {
    const { id, sponsor, users } = await review(3);
    const work = async () => await workOnReviews(app.services, await endHold(app.services));
    const asked = async (email: string) =>
      (await app.mails(email)).filter(({ subject }) => subject.includes("still right?")).length;
    await work();
    expect(await asked(sponsor)).toBe(1);
    app.clock.advance(9.5 * DAY);
    admin = await app.admin();
    await work();
    const before = await asked(sponsor);
    const [first, second] = [`first-${count}@example.org`, `second-${count}@example.org`];
    await admin.call("PATCH", `/users/${users[0]?.id}`, { sponsor_email: first });
    await work();
    await work();
    expect([await asked(first), await asked(sponsor)]).toEqual([1, before]);
    expect((await admin.call("POST", "/sponsors/move", { from: sponsor, to: second })).status).toBe(200);
    // Back to where the link was killed by the move.
    await admin.call("PATCH", `/users/${users[1]?.id}`, { sponsor_email: sponsor });
    await work();
    await work();
    expect([await asked(second), await asked(sponsor)]).toEqual([1, before + 1]);
    expect((await decide(await tokenOf(sponsor), [{ id: users[1]?.id, answer: "keep" }])).status).toBe(200);
    expect((await decide(await tokenOf(second), [{ id: users[2]?.id, answer: "keep" }])).status).toBe(200);
    app.clock.advance(DAY);
    await work();
    expect(users.map(({ username }) => isOpen(username))).toEqual([false, true, true]);
    admin = await app.admin();
    expect((await admin.call("GET", `/reviews/${id}`)).body.data).toMatchObject({ status: "closed", kept: 2 });
  });

  test("is asked again before the day, and the sponsor is told of whom nobody answered for", async () => {
    const { sponsor, users } = await review(2);
    const subjects = async () => (await app.mails(sponsor)).map(({ subject }) => subject);
    app.clock.advance(3 * DAY);
    await workOnReviews(app.services, await endHold(app.services));
    expect((await subjects()).at(-1)).toStartWith("7 days left: Is the access of 2 users");
    app.clock.advance(7 * DAY);
    await workOnReviews(app.services, await endHold(app.services));
    expect((await subjects()).at(-1)).toStartWith("The access of 2 users to");
    expect(users.map(({ username }) => isOpen(username))).toEqual([false, false]);
  });
});
