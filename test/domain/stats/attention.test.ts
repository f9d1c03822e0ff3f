import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, isNotNull } from "drizzle-orm";
import { checkBackups } from "../../../src/doctor/backups.ts";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { createWebhook, updateWebhook } from "../../../src/domain/events/webhooks.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { audited } from "../../../src/domain/operation/audited.ts";
import { readAttention } from "../../../src/domain/stats/attention.ts";
import { oldBackup } from "../../../src/domain/stats/backups.ts";
import { UamError } from "../../../src/shared/errors.ts";
import { DAY, HOUR, MINUTE, shift } from "../../../src/shared/time/clock.ts";
import { LOCAL_HOST, outbox, users } from "../../../src/store/schema.ts";
import { webhooks } from "../../../src/store/schema-events.ts";
import { hosts } from "../../../src/store/schema-fleet.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { insertHost } from "../../support/host-rows.ts";

let app: TestApp;
let admin: Client;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
  admin = await app.admin();
});
afterAll(() => app.close());

const attention = async (client: Client = admin) => (await client.call("GET", "/admin/attention")).body.data;
const QUIET = {
  ...{ requests: 0, problems: 0, incidents: { total: 0, items: [] } },
  ...{ owed: 0, hosts: 0, receivers: [], sponsors: [], reviews: [], mail: null, backup: null },
  mail_unsent: true,
};

test("readAttention() finds nothing while all is well", async () => {
  expect(await attention()).toEqual(QUIET);
});

test("mail that goes to nobody is said where people have accounts, and is no problem", async () => {
  const unsent = async (policy: object, host: object = {}) =>
    (
      await readAttention({
        ...app.system,
        policy: { ...app.system.policy, ...policy },
        host: { ...app.system.host, ...host },
      })
    ).mailUnsent;
  expect(await unsent({})).toBe(true);
  expect(await unsent({ sendsMail: true })).toBe(false);
  expect(await unsent({}, { mode: "dry-run" })).toBe(false);
});

test("a database that was never backed up is no problem here, and a note of the doctor where a host is changed", async () => {
  expect(await checkBackups(app.system, true)).toMatchObject([{ state: "note", finding: "No backup was ever made" }]);
  expect(await checkBackups(app.system, false)).toEqual([]);
});

test("reviews are those with users about whom no sponsor is asked, until they are answered for", async () => {
  const person = (name: string, fields: object = {}) =>
    admin.call("POST", "/users", { username: name, email: `${name}@example.org`, ...fields });
  const { id: company } = (await admin.call("POST", "/companies", { name: "Self", sponsor_email: "own@example.org" }))
    .body.data;
  const ids = [await person("alone"), await person("own", { company_id: company })].map(({ body }) => body.data.id);
  await person("sponsored", { sponsor_email: "bo@example.org" });
  await person("covered", { company_id: company });
  const { id, due_at } = (await admin.call("POST", "/reviews", { scope: "all" })).body.data;
  expect(await attention()).toMatchObject({ problems: 0, reviews: [{ id, due_at, waiting: 2 }] });
  await admin.call("POST", `/reviews/${id}/items`, { users: [ids[0]], answer: "keep" });
  expect((await attention()).reviews).toMatchObject([{ waiting: 1 }]);
  await admin.call("POST", `/reviews/${id}/items`, { users: [ids[1]], answer: "keep" });
  expect((await attention()).reviews).toEqual([]);
  await admin.call("POST", `/reviews/${id}/close`, { unanswered: "report" });
});

describe("incidents", () => {
  const incidents = async () => (await attention()).incidents;

  test("are users who shut their own account, the newest first, until somebody enables or deletes them", async () => {
    const [first, second] = [await app.user("first"), await app.user("second")];
    await first.client.call("POST", "/me/lock");
    const at = app.clock.now().toISOString();
    app.clock.advance(MINUTE);
    await second.client.call("POST", "/me/lock");
    const { total, items } = await incidents();
    expect([total, items.map(({ username }: { username: string }) => username)]).toEqual([2, ["second", "first"]]);
    expect(items[1]).toEqual({ user_id: first.id, username: "first", at });
    expect((await attention()).problems).toBe(2);
    await admin.call("POST", `/users/${first.id}/enable`);
    await admin.call("DELETE", `/users/${second.id}`);
    expect(await incidents()).toEqual({ total: 0, items: [] });
    // It is over, also when the same user is disabled again, by somebody else.
    app.clock.advance(MINUTE);
    await admin.call("POST", `/users/${first.id}/disable`);
    expect(await incidents()).toEqual({ total: 0, items: [] });
  });

  test("are none where an administrator was faster, and the user is refused", async () => {
    const { id, client } = await app.user("slower");
    await admin.call("POST", `/users/${id}/disable`);
    expect((await client.call("POST", "/me/lock")).status).toBe(409);
    expect((await app.auditRows("user.lock")).at(-1)).toMatchObject({ subjectId: id, result: "failed" });
    expect((await incidents()).total).toBe(0);
  });

  test("are those of users whose access has ended, too", async () => {
    const { id, client } = await app.user("ended");
    await app.db.update(users).set({ expireAt: app.clock.now(), status: "expired" }).where(eq(users.id, id));
    await client.call("POST", "/me/lock");
    expect((await incidents()).items).toMatchObject([{ user_id: id }]);
    await admin.call("DELETE", `/users/${id}`);
  });

  test("are those that the host could not finish, too", async () => {
    const { id, client } = await app.user("lingering");
    app.host.failing.add("endProcesses");
    expect((await client.call("POST", "/me/lock")).status).toBe(500);
    const found = await attention();
    expect([found.incidents.total, found.owed, found.problems]).toEqual([1, 1, 2]);
    app.host.failing.clear();
    app.clock.advance(HOUR);
    await finishClosings(app.services);
    expect(await attention()).toMatchObject({ incidents: { total: 1 }, owed: 0, problems: 1 });
    await admin.call("DELETE", `/users/${id}`);
  });
});

describe("mail", () => {
  const at = (age: number) => shift(app.clock.now(), -age);
  const put = async (row: Partial<typeof outbox.$inferInsert>) => {
    const mail = { recipient: "x@example.org", subject: "s", text: "", html: "", createdAt: at(HOUR), dueAt: at(0) };
    await app.db.insert(outbox).values({ ...mail, ...row });
  };

  test("is named from its first failure on, and no longer once it is sent", async () => {
    await put({});
    expect((await attention()).mail).toBeNull();
    await put({ attempts: 1, lastError: "the server is busy" });
    await put({ attempts: 2, createdAt: at(2 * HOUR), lastError: "connection refused" });
    expect((await attention()).mail).toEqual({
      ...{ waiting: 2, lost: 0, since: at(2 * HOUR).toISOString(), problem: "connection refused" },
    });
    await app.db.update(outbox).set({ status: "sent", finishedAt: at(0) });
    expect((await attention()).mail).toBeNull();
  });

  test("that nobody got is named for a week", async () => {
    await put({ status: "dead", finishedAt: at(0), lastError: "550 no such user" });
    // As a decoy is stored, for a name that nobody has.
    await put({ status: "dropped", finishedAt: at(0) });
    await put({ status: "dropped", finishedAt: at(MINUTE), createdAt: at(3 * HOUR), lastError: "connection refused" });
    const { mail, problems } = await attention();
    expect(mail).toMatchObject({
      waiting: 0,
      lost: 2,
      since: at(3 * HOUR).toISOString(),
      problem: "550 no such user",
    });
    expect(problems).toBe(1);
    app.clock.advance(7 * DAY - MINUTE / 2);
    expect((await attention()).mail.lost).toBe(1);
    app.clock.advance(MINUTE);
    expect((await attention()).mail).toBeNull();
  });
});

test("readAttention() counts requests, receivers from their first failure on, and problems of hosts", async () => {
  for (const username of ["one", "two"])
    await app.anonymous().call("POST", "/approvals", { username, email: "a@example.org" });
  const { entry } = await createWebhook(app.system, { url: "https://hooks.example.org/secret", actions: [] });
  const failing = { failures: 1, failingSince: app.clock.now(), lastError: "hooks.example.org refuses connections" };
  await app.db.update(webhooks).set(failing).where(eq(webhooks.id, entry.id));
  await insertHost(app, "copied", { status: "locked" });
  // By the lease of a group, which is shorter than the usual one, or none at all.
  await admin.call("POST", "/host-groups", { name: "web", lease: "1h" });
  await admin.call("POST", "/host-groups", { name: "lab", lease: "none" });
  await insertHost(app, "quiet", { groups: ["web"], lastSeenAt: shift(app.clock.now(), -20 * MINUTE) });
  await insertHost(app, "usual", { lastSeenAt: shift(app.clock.now(), -20 * MINUTE) });
  await insertHost(app, "endless", { groups: ["lab"] });
  const found = await attention();
  const named = (await admin.call("GET", "/admin/problems")).body.data.hosts.total;
  expect(named).toBe(3);
  expect(found).toMatchObject({ requests: 2, hosts: named, problems: named + 1 });
  expect(found.receivers).toEqual([
    {
      ...{ kind: "webhook", id: entry.id, name: "https://hooks.example.org", since: app.clock.now().toISOString() },
      ...{ lag: expect.any(Number), problem: "hooks.example.org refuses connections" },
    },
  ]);
  await updateWebhook(app.system, entry.id, { status: "disabled" });
  expect((await attention()).receivers).toEqual([]);
});

test("a profile that a host does not hold is a problem of the host, of the service's own as of others, until it does", async () => {
  const { hosts: before } = await attention();
  const said = (...names: readonly string[]) => JSON.stringify(names.map((name) => stateOf(name)));
  const stateOf = (name: string) =>
    name === "fine" ? { name, state: "applied" } : { name, state: "problem", problem: `/data/${name} does not exist` };
  const { id } = await insertHost(app, "unheld", { profiles: said("fine", "one", "two") });
  await app.db
    .update(hosts)
    .set({ profiles: said("one", "fine") })
    .where(eq(hosts.id, LOCAL_HOST));
  expect((await attention()).hosts).toBe(before + 3);
  const { hosts: named } = (await admin.call("GET", "/admin/problems?page_size=100")).body.data;
  const found = named.items.filter(({ kind }: { kind: string }) => kind === "profile");
  expect(named.total).toBe(before + 3);
  expect(found.map(({ text }: { text: string }) => text).sort()).toEqual([
    "It does not hold the profile one: /data/one does not exist",
    "It does not hold the profile one: /data/one does not exist",
    "It does not hold the profile two: /data/two does not exist",
  ]);
  const counts = async (host: number) => (await admin.call("GET", `/hosts/${host}`)).body.data.problems.length;
  expect([await counts(id), await counts(LOCAL_HOST)]).toEqual([2, 1]);
  await app.db
    .update(hosts)
    .set({ profiles: said("fine") })
    .where(isNotNull(hosts.profiles));
  expect((await attention()).hosts).toBe(before);
  await app.db.delete(hosts).where(eq(hosts.id, id));
});

test("the service's own host alone has no problems of hosts but those of profiles", async () => {
  const alone = await createTestApp();
  try {
    const client = await alone.admin();
    const named = async () => (await client.call("GET", "/admin/problems")).body.data.hosts;
    expect(await named()).toBeUndefined();
    const profiles = JSON.stringify([{ name: "one", state: "problem", problem: "/data does not exist" }]);
    await alone.db.update(hosts).set({ profiles }).where(eq(hosts.id, LOCAL_HOST));
    expect(await named()).toMatchObject({ total: 1, items: [{ kind: "profile", account: "" }] });
    expect((await client.call("GET", "/admin/attention")).body.data).toMatchObject({ hosts: 1, problems: 1 });
  } finally {
    await alone.close();
  }
});

test("readAttention() answers every role, and nobody else", async () => {
  await addAdmin(app.system, "looks-on", "l@example.org", ADMIN_PASSWORD, "auditor");
  const auditor = app.anonymous();
  await auditor.call("POST", "/auth/admin/login", { username: "looks-on", password: ADMIN_PASSWORD });
  expect(await attention(auditor)).toEqual(await attention());
  expect((await app.anonymous().call("GET", "/admin/attention")).status).toBe(401);
});

test("the newest backup is a problem once it is older than UAM_BACKUP_MAX_AGE, with what the next attempt failed on", async () => {
  const backup = async () => (await attention()).backup;
  const attempt = (run: () => Promise<void>) => audited(app.system, { action: "service.backup" }, run);
  const at = app.clock.now().toISOString();
  await attempt(async () => {});
  app.clock.advance(2 * DAY);
  expect(await backup()).toBeNull();
  app.clock.advance(MINUTE);
  expect(await attention()).toMatchObject({ backup: { at, problem: "" } });
  await attempt(() => Promise.reject(new UamError("conflict", "The far disk is full."))).catch(() => {});
  expect(await backup()).toEqual({ at, problem: "The far disk is full." });
  const never = { ...app.system, policy: { ...app.system.policy, backupMaxAge: 0 } };
  expect(await oldBackup(never)).toBeUndefined();
  const [finding] = await checkBackups(app.system, true);
  expect(finding).toMatchObject({
    state: "fault",
    finding: expect.stringContaining("it failed: The far disk is full"),
  });
  expect((await checkBackups(never, true))[0]?.state).toBe("ok");
  await attempt(async () => {});
  expect([await backup(), (await checkBackups(app.system, true))[0]?.state]).toEqual([null, "ok"]);
});
