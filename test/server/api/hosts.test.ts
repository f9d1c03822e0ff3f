/** Hosts, groups and grants over the API; the hosts are rows, without agents. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { forgetRetired } from "../../../src/domain/hosts/retirement.ts";
import { fleetSecrets } from "../../../src/domain/wire/fleet-key.ts";
import { HOUR, MINUTE, shift } from "../../../src/shared/time/clock.ts";
import { users } from "../../../src/store/schema.ts";
import { grants, hostProblems, hosts, joinTokens, removedAccounts } from "../../../src/store/schema-fleet.ts";
import { type Answer, type Client, confirming, createTestApp, type TestApp } from "../../support/app.ts";
import { grantDefault, headOf, insertHost } from "../../support/host-rows.ts";

let app: TestApp;
let owner: Client;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d", UAM_FLEET_WAIT: "1s" });
  owner = confirming(await app.admin());
});
afterAll(() => app.close());

const reasonOf = ({ status, headers }: Answer) => `${status} ${headers.get("uam-error")}`;

let count = 0;
/** A name that no test has had. */
const fresh = (what: string) => `${what}-${++count}`;

async function person(username = fresh("person")) {
  const made = await app.user(username);
  await grantDefault(app, made.id);
  return { username, ...made };
}

async function group(name: string, wanted: object = {}) {
  const answer = await owner.call("POST", "/host-groups", { name, ...wanted });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.data as { readonly id: number; readonly name: string };
}

async function hostsOf(id: number) {
  return (await owner.call("GET", `/users/${id}/hosts`)).body.data;
}

describe("POST /hosts/tokens", () => {
  test("makes a line with address, token and fingerprint, and stores only the token's hash", async () => {
    const { id } = await group(fresh("web"));
    const name = fresh("joining");
    const answer = await owner.call("POST", "/hosts/tokens", { name, group: `web-${count - 1}` });
    expect(answer.status).toBe(201);
    const { line, expires_at } = answer.body.data;
    const [address, token, fingerprint] = line.split(" ");
    expect(address).toBe(app.config.baseUrl);
    expect(token).toMatch(/^uamj_[\w-]{43}$/);
    expect(fingerprint).toBe(fleetSecrets(app.services.seal).fingerprint);
    expect(expires_at).toBe(shift(app.clock.now(), 30 * MINUTE).toISOString());
    const [row] = await app.db.select().from(joinTokens).where(eq(joinTokens.name, name));
    expect(row).toMatchObject({ groupId: id, createdBy: "admin" });
    const record = await app.lastAudit("host_token.create");
    expect(record).toMatchObject({ result: "success", resourceType: "host" });
    expect(JSON.stringify([row, record, await app.mails()])).not.toContain(token.slice(5));
  });

  test("needs no body; a token ends after half an hour", async () => {
    expect((await owner.call("POST", "/hosts/tokens")).status).toBe(201);
    app.clock.advance(30 * MINUTE);
    expect((await owner.call("POST", "/hosts/tokens")).status).toBe(201);
    expect(await app.db.select().from(joinTokens)).toHaveLength(1);
  });

  test.each([
    [{ name: "local" }, "409 host.taken"],
    [{ name: "-x" }, "400 request.invalid"],
    [{ name: "17" }, "400 request.invalid"],
    [{ name: "a b" }, "400 request.invalid"],
    [{ name: "x".repeat(64) }, "400 request.invalid"],
    [{ group: "nowhere" }, "404 host_group.missing"],
    [{ names: "x" }, "400 request.invalid"],
  ])("%j is refused: %s", async (body, reason) => {
    expect(reasonOf(await owner.call("POST", "/hosts/tokens", body))).toBe(reason);
  });
});

describe("GET /hosts", () => {
  test("has the service's own first, and each with its groups, its lease and its problems", async () => {
    const name = fresh("listed");
    await group(fresh("short"), { lease: "1h" });
    const row = await insertHost(app, name, { groups: [`short-${count}`], clockOffsetMs: -75_400 });
    await app.db
      .insert(hostProblems)
      .values({ hostId: row.id, account: "ext_a", kind: "conflict", text: "Not ours", since: app.clock.now() });
    const { body } = await owner.call("GET", "/hosts");
    expect(body.data.items[0]).toMatchObject({
      ...{ id: 1, name: "local", kind: "local", status: "active", groups: ["default"], lease: null, problems: 0 },
      ssh_host: app.config.baseUrl.replace(/^https?:\/\/|:\d+$/g, ""),
    });
    const found = (await owner.call("GET", `/hosts?q=${name.toUpperCase()}`)).body.data;
    expect(found.total).toBe(1);
    expect(found.items[0]).toMatchObject({
      ...{ id: row.id, name, kind: "remote", groups: [`short-${count}`], lease: "1h", own_lease: null, problems: 2 },
      ...{ ssh_host: `${name}.example.org`, ssh_port: 22, last_seen_at: app.clock.now().toISOString() },
    });
    expect((await owner.call("GET", `/hosts?group=short-${count}`)).body.data.total).toBe(1);
    expect((await owner.call("GET", "/hosts?status=retiring")).body.data.total).toBe(0);
    const one = (await owner.call("GET", `/hosts/${row.id}`)).body.data;
    expect(one.problems.map(({ kind, text }: { kind: string; text: string }) => `${kind}: ${text}`)).toEqual([
      "clock: Its clock is 75 seconds behind the service's: accounts expire at another time there",
      "conflict: Not ours",
    ]);
    expect(one.accounts).toEqual({ total: 0, open: 0 });
    expect(reasonOf(await owner.call("GET", "/hosts/999999"))).toBe("404 host.missing");
  });

  test("shows what the service sees of a host: silence, the end of the lease, divergence, no lease", async () => {
    const { clock } = app;
    clock.advance(10 * HOUR);
    const seen = shift(clock.now(), -2 * HOUR);
    const silent = await insertHost(app, fresh("silent"), { lastSeenAt: seen, leaseUntil: shift(seen, 4 * HOUR) });
    const ended = await insertHost(app, fresh("ended"), { lastSeenAt: seen, leaseUntil: clock.now() });
    const odd = await insertHost(app, fresh("odd"), { leaseMs: 0, divergedAt: seen, clockOffsetMs: 3000 });
    const kinds = async (id: number) =>
      (await owner.call("GET", `/hosts/${id}`)).body.data.problems.map(({ kind }: { kind: string }) => kind);
    expect(await kinds(silent.id)).toEqual(["silent"]);
    expect(await kinds(ended.id)).toEqual(["lease_ended"]);
    expect(await kinds(odd.id)).toEqual(["diverged", "no_lease", "finding"]);
    const problems = (await owner.call("GET", "/admin/problems")).body.data;
    expect(problems.hosts.items.map(({ host }: { host: string }) => host)).toContain(odd.name);
    await app.db.delete(hosts).where(sql`${hosts.id} in (${silent.id}, ${ended.id}, ${odd.id})`);
  });
});

describe("GET /hosts/:id/users", () => {
  const on = async (id: number, query = "") => (await owner.call("GET", `/hosts/${id}/users${query}`)).body.data;

  test("has who has the host, by name, with the group or none, and the state of each", async () => {
    const groupName = fresh("people");
    await group(groupName);
    const head = await headOf(app);
    const host = await insertHost(app, fresh("peopled"), { groups: [groupName], appliedId: head });
    const [zoe, adam, eve] = [await person(fresh("z")), await person(fresh("a")), await person(fresh("e"))];
    expect(await on(host.id)).toEqual({ total: 0, items: [] });
    for (const { id } of [zoe, adam])
      await owner.call("PUT", `/users/${id}/hosts`, { groups: ["default", groupName], hosts: [] });
    await owner.call("PUT", `/users/${eve.id}/hosts`, { groups: ["default", groupName], hosts: [host.name] });
    const { total, items } = await on(host.id);
    expect(total).toBe(3);
    const of = (one: { readonly username: string }) =>
      items.find(({ username }: { readonly username: string }) => username === one.username);
    expect(items.map(({ username }: { username: string }) => username)).toEqual(
      [adam, eve, zoe].map((one) => one.username),
    );
    expect(of(adam)).toMatchObject({
      ...{ id: adam.id, status: "active", group: groupName, state: "pending", removing: false, problem: "" },
      ...{ sessions: null, since: app.clock.now().toISOString() },
    });
    expect(of(eve)).toMatchObject({ group: "", state: "pending" });
    // What one user's own page says of the host is said here, too.
    const [place] = (await hostsOf(adam.id)).items.filter(({ host: name }: { host: string }) => name === host.name);
    expect(of(adam)).toMatchObject({ state: place.state, since: place.since, group: place.group, problem: "" });
    await app.db
      .update(hosts)
      .set({ appliedId: await headOf(app) })
      .where(eq(hosts.id, host.id));
    expect((await on(host.id)).items.map(({ state }: { state: string }) => state)).toEqual(Array(3).fill("applied"));
    await app.db.insert(hostProblems).values({
      hostId: host.id,
      account: `ext_${zoe.username}`,
      kind: "missing",
      text: "Gone",
      since: app.clock.now(),
    });
    expect((await on(host.id, "?page=3&page_size=1")).items).toMatchObject([
      { username: zoe.username, state: "problem", problem: "Gone" },
    ]);
    expect(await on(host.id, "?page=9")).toEqual({ total: 3, items: [] });
    await app.db.update(hosts).set({ status: "locked" }).where(eq(hosts.id, host.id));
    expect((await on(host.id)).items.map(({ problem }: { problem: string }) => problem)).toEqual([
      ...Array(2).fill("The host is locked"),
      "Gone",
    ]);
  });

  test("has who no longer has the host, until it has removed the account", async () => {
    const host = await insertHost(app, fresh("left"), {});
    const { id, username } = await person();
    await owner.call("PUT", `/users/${id}/hosts`, { groups: ["default"], hosts: [host.name] });
    await owner.call("PUT", `/users/${id}/hosts`, { groups: ["default"], hosts: [] });
    expect((await on(host.id)).items).toMatchObject([{ username, removing: true, state: "pending", group: "" }]);
    await app.db.delete(removedAccounts).where(eq(removedAccounts.name, `ext_${username}`));
    expect(await on(host.id)).toEqual({ total: 0, items: [] });
  });

  test("counts the logins on the service's own host, and says where access is being taken away", async () => {
    const { id, username } = await person();
    const since = app.clock.now();
    app.host.sessionsOpen.push({
      id: "1",
      account: `ext_${username}`,
      since,
      from: "192.0.2.7",
      fingerprint: undefined,
    });
    const find = async () =>
      (await on(1, "?page_size=500")).items.find((one: { readonly id: number }) => one.id === id);
    expect(await find()).toMatchObject({ sessions: 1, state: "applied", group: "default" });
    app.host.failing.add("emptyFile");
    await owner.call("POST", `/users/${id}/disable`);
    app.host.failing.delete("emptyFile");
    expect(await find()).toMatchObject({
      status: "disabled",
      state: "problem",
      problem: expect.stringContaining("emptyFile"),
    });
    app.host.sessionsOpen.splice(0);
  });

  test("knows no other host", async () => {
    expect(reasonOf(await owner.call("GET", "/hosts/999999/users"))).toBe("404 host.missing");
  });
});

describe("PATCH /hosts/:id", () => {
  test("changes name and lease, on record", async () => {
    const { id, name } = await insertHost(app, fresh("old"));
    const answer = await owner.call("PATCH", `/hosts/${id}`, {
      name: `new-${name}`,
      lease: "5m",
      lease_ends: "sessions",
    });
    expect(answer.body.data).toMatchObject({
      name: `new-${name}`,
      lease: "5m",
      own_lease: "5m",
      lease_ends: "sessions",
    });
    expect(await app.lastAudit("host.update")).toMatchObject({
      ...{ resourceId: String(id), result: "success" },
      detail: { host: name, new_name: `new-${name}`, lease: "5m", old_lease: null, lease_ends: "sessions" },
    });
    expect((await owner.call("PATCH", `/hosts/${id}`, { lease: "none" })).body.data.lease).toBe("none");
    expect((await owner.call("PATCH", `/hosts/${id}`, { lease: null })).body.data).toMatchObject({
      ...{ lease: "4h", own_lease: null },
    });
  });

  test.each([
    [{ lease: "4m" }, "400 request.invalid"],
    [{ lease: "8d" }, "400 request.invalid"],
    [{ lease: "0h" }, "400 request.invalid"],
    [{ lease: "soon" }, "400 request.invalid"],
    [{ lease: 5 }, "400 request.invalid"],
    [{ name: "local" }, "409 host.taken"],
    [{}, "400 request.invalid"],
  ])("%j is %s", async (body, reason) => {
    const { id } = await insertHost(app, fresh("steady"));
    expect(reasonOf(await owner.call("PATCH", `/hosts/${id}`, body))).toBe(reason);
  });

  test("leaves the service's own host alone", async () => {
    expect(reasonOf(await owner.call("PATCH", "/hosts/1", { lease: "5m" }))).toBe("409 host.local");
    expect(reasonOf(await owner.call("POST", "/hosts/1/lock"))).toBe("409 host.local");
    expect(reasonOf(await owner.call("POST", "/hosts/1/unlock"))).toBe("409 host.local");
    expect(reasonOf(await owner.call("DELETE", "/hosts/1?force=true"))).toBe("409 host.local");
  });
});

describe("locking a host", () => {
  test("is recorded once, and unlocking forgets the counter but takes no nonce from before", async () => {
    const before = app.clock.now().getTime();
    const { id } = await insertHost(app, fresh("locked"), { counter: 77, nonceAt: before - 5 });
    expect((await owner.call("POST", `/hosts/${id}/lock`)).body.data.status).toBe("locked");
    const records = (await app.auditRows("host.lock")).length;
    const again = await owner.call("POST", `/hosts/${id}/lock`);
    expect(again.body.data.problems).toMatchObject([{ kind: "locked", since: app.clock.now().toISOString() }]);
    expect((await app.auditRows("host.lock")).length).toBe(records);
    app.clock.advance(MINUTE);
    expect((await owner.call("POST", `/hosts/${id}/unlock`)).body.data.status).toBe("active");
    const [row] = await app.db.select().from(hosts).where(eq(hosts.id, id));
    expect(row).toMatchObject({ counter: 0, nonceAt: before + MINUTE });
    expect(await app.lastAudit("host.unlock")).toMatchObject({ resourceId: String(id), result: "success" });
  });
});

describe("groups", () => {
  test("give their users an account on each host, after a preview that says for how many", async () => {
    const name = fresh("ops");
    const { id } = await group(name);
    const [a, b] = [await person(), await person()];
    for (const { id: userId } of [a, b]) {
      const answer = await owner.call("PUT", `/users/${userId}/hosts`, { hosts: [], groups: ["default", name] });
      expect(answer.status).toBe(200);
    }
    await owner.call("POST", `/users/${b.id}/disable`);
    const host = await insertHost(app, fresh("joiner"));
    const preview = (await owner.call("GET", `/hosts/${host.id}/preview?group=${name}`)).body.data;
    expect(preview).toEqual({
      ...{ preview: true, host: [], accounts: { opened: 1, shut: 1, removed: 0 } },
      effects: [
        `1 account opens on ${host.name}.`,
        `1 account of disabled or expired users is made on ${host.name}, shut.`,
      ],
    });
    const records = (await app.auditRows()).length;
    const dry = await owner.call("PATCH", `/host-groups/${id}?preview=true`, { hosts: [host.name], lease: "30m" });
    expect(dry.body.data.accounts).toEqual({ opened: 1, shut: 1, removed: 0 });
    expect((await app.auditRows()).length).toBe(records);
    const done = await owner.call("PATCH", `/host-groups/${id}`, { hosts: [host.name] });
    expect(done.body.data).toMatchObject({ name, hosts: [host.name], users: 2, for_new_users: false, lease: null });
    expect(await app.lastAudit("host_group.update")).toMatchObject({
      ...{ resourceId: String(id), result: "success", detail: { name, added: host.name } },
    });
    expect((await hostsOf(a.id)).items.map((item: { host: string; group: string }) => [item.host, item.group])).toEqual(
      [
        ["local", "default"],
        [host.name, name],
      ],
    );
    expect((await owner.call("GET", `/hosts/${host.id}`)).body.data.accounts).toEqual({ total: 2, open: 1 });

    const less = await owner.call("PATCH", `/host-groups/${id}?preview=true`, { hosts: [] });
    expect(less.body.data.effects).toEqual([
      `2 accounts are removed from ${host.name}, with everything in their home directories.`,
    ]);
    await owner.call("PATCH", `/host-groups/${id}`, { hosts: [] });
    const removed = await app.db.select().from(removedAccounts).orderBy(removedAccounts.name);
    expect(removed.filter(({ hosts: ids }) => ids.includes(host.id)).map((row) => row.name)).toEqual([
      `ext_${a.username}`,
      `ext_${b.username}`,
    ]);
    const left = (await hostsOf(a.id)).items.at(-1);
    expect(left).toMatchObject({ host: host.name, removing: true, state: "pending" });

    // One that gets it back has nothing removed; the other one's removal stays.
    await owner.call("PUT", `/users/${a.id}/hosts`, { hosts: [host.name], groups: ["default", name] });
    const still = await app.db.select().from(removedAccounts);
    expect(still.filter(({ hosts: ids }) => ids.includes(host.id)).map((row) => row.name)).toEqual([
      `ext_${b.username}`,
    ]);
  });

  test("keep an account where another grant has it", async () => {
    const [one, two] = [fresh("one"), fresh("two")];
    const host = await insertHost(app, fresh("shared"));
    const first = await group(one, { hosts: [host.name] });
    await group(two, { hosts: [host.name] });
    const { id } = await person();
    await owner.call("PUT", `/users/${id}/hosts`, { hosts: ["local"], groups: [one, two] });
    const preview = await owner.call("PATCH", `/host-groups/${first.id}?preview=true`, { hosts: [] });
    expect(preview.body.data).toMatchObject({
      ...{ effects: [`${host.name} leaves the group; no account there changes.`], accounts: { removed: 0 } },
    });
    await owner.call("PATCH", `/host-groups/${first.id}`, { hosts: [] });
    expect((await app.db.select().from(removedAccounts)).some(({ hosts: ids }) => ids.includes(host.id))).toBe(false);
  });

  test("are deleted only where nobody has them", async () => {
    const name = fresh("gone");
    const { id } = await group(name, { lease: "1h" });
    const user = await person();
    await owner.call("PUT", `/users/${user.id}/hosts`, { hosts: [], groups: ["default", name] });
    for (const query of ["", "?preview=true"]) {
      const refused = await owner.call("DELETE", `/host-groups/${id}${query}`);
      expect([reasonOf(refused), refused.body.error]).toEqual([
        "409 host_group.used",
        `1 user has the group ${name}; give them other hosts first`,
      ]);
    }
    await owner.call("PUT", `/users/${user.id}/hosts`, { hosts: [], groups: ["default"] });
    expect((await owner.call("DELETE", `/host-groups/${id}`)).body.data).toEqual({ status: "deleted" });
    expect(reasonOf(await owner.call("DELETE", `/host-groups/${id}`))).toBe("404 host_group.missing");
    expect((await app.auditRows("host_group.delete")).at(-1)?.result).toBe("failed");
  });

  test("have one default, which only another can take", async () => {
    const items = async () => (await owner.call("GET", "/host-groups")).body.data.items;
    const standard = (await items()).find((item: { for_new_users: boolean }) => item.for_new_users);
    expect(standard).toMatchObject({ name: "default", hosts: ["local"] });
    const { id, name } = await group(fresh("standard"));
    expect((await owner.call("PATCH", `/host-groups/${id}`, { for_new_users: true })).body.data.for_new_users).toBe(
      true,
    );
    expect(await app.lastAudit("settings.update")).toMatchObject({
      ...{ resourceId: "policy.default_group", detail: { value: name, overridden: true, old_value: "default" } },
    });
    expect(reasonOf(await owner.call("DELETE", `/host-groups/${id}`))).toBe("409 host_group.used");
    expect(reasonOf(await owner.call("PATCH", `/host-groups/${id}`, { for_new_users: false }))).toBe(
      "400 request.invalid",
    );
    // The settings are durations, as they were.
    const { body } = await owner.call("GET", "/settings");
    expect(body.data.items.map(({ key }: { key: string }) => key)).not.toContain("policy.default_group");
    await owner.call("PATCH", `/host-groups/${standard.id}`, { for_new_users: true });
    expect((await items()).filter((item: { for_new_users: boolean }) => item.for_new_users)).toHaveLength(1);
  });

  test.each([
    [{ name: "default" }, "409 host_group.taken"],
    [{ name: "12" }, "400 request.invalid"],
    [{ name: "x", hosts: ["nowhere"] }, "400 host.missing"],
    [{ name: "x", lease: "1m" }, "400 request.invalid"],
    [{ name: "x", hosts: "local" }, "400 request.invalid"],
  ])("%j is refused: %s", async (body, reason) => {
    expect(reasonOf(await owner.call("POST", "/host-groups", body))).toBe(reason);
  });

  test("neither give nor take the account on the service's own host", async () => {
    const { id } = await person();
    const all = (await owner.call("GET", "/host-groups")).body.data.items;
    const standard = all.find(({ name }: { name: string }) => name === "default");
    for (const query of ["", "?preview=true"]) {
      const change = await owner.call("PATCH", `/host-groups/${standard.id}${query}`, { hosts: [] });
      expect(reasonOf(change)).toBe("409 host.local");
    }
    expect((await hostsOf(id)).groups).toEqual(["default"]);
  });
});

describe("PUT /users/:id/hosts", () => {
  test("is recorded in the user's trail, and again only if something changes", async () => {
    const { id, username, client } = await person();
    const host = await insertHost(app, fresh("mine"), { appliedId: 0 });
    const preview = await owner.call("PUT", `/users/${id}/hosts?preview=true`, {
      hosts: [host.name],
      groups: ["default"],
    });
    expect(preview.body.data.effects).toEqual([`${username} can log in on ${host.name}, as ext_${username}.`]);
    const answer = await owner.call("PUT", `/users/${id}/hosts`, { hosts: [host.name], groups: ["default"] });
    expect(answer.body.data).toMatchObject({
      ...{ hosts: [host.name], groups: ["default"] },
      items: [
        { host: "local", group: "default", state: "applied", removing: false },
        { host: host.name, group: "", state: "pending", removing: false },
      ],
    });
    const record = await app.lastAudit("user.grant");
    expect(record).toMatchObject({
      ...{ resourceId: String(id), subjectId: id, result: "success" },
      detail: { username, hosts: host.name, groups: "default", old_hosts: "", old_groups: "default" },
    });
    await owner.call("PUT", `/users/${id}/hosts`, { hosts: [host.name], groups: ["default"] });
    expect((await app.lastAudit("user.grant")).id).toBe(record.id);

    await app.db
      .update(hosts)
      .set({ appliedId: await headOf(app) })
      .where(eq(hosts.id, host.id));
    expect((await hostsOf(id)).items[1]).toMatchObject({ state: "applied", since: record.createdAt.toISOString() });
    const since = app.clock.now();
    await app.db
      .insert(hostProblems)
      .values({ hostId: host.id, account: `ext_${username}`, kind: "conflict", text: "The uid is bob's", since });
    expect((await hostsOf(id)).items[1]).toMatchObject({ state: "problem", problem: "The uid is bob's" });

    const own = (await client.call("GET", "/me/hosts")).body.data.items;
    expect(own).toMatchObject([
      { name: "local", state: "applied" },
      { name: host.name, state: "problem", ssh: { command: `ssh ext_${username}@${host.name}.example.org` } },
    ]);
    const after = await owner.call("PUT", `/users/${id}/hosts`, { hosts: [], groups: ["default"] });
    expect(after.body.data.items.at(-1)).toMatchObject({ host: host.name, removing: true });
    expect((await client.call("GET", "/me/hosts")).body.data.items).toHaveLength(1);
  });

  test("shows no command made of what an agent says beyond a name or an address", async () => {
    const { id, client } = await person();
    const host = await insertHost(app, fresh("hostile"), {
      sshHost: "-oProxyCommand=x",
      hostKeys: JSON.stringify([{ type: "ssh-ed25519", base64: "x\nevil", fingerprint: "SHA256:x" }]),
    });
    await owner.call("PUT", `/users/${id}/hosts`, { hosts: [host.name], groups: ["default"] });
    expect((await client.call("GET", "/me/hosts")).body.data.items[1]).toEqual({
      ...{ name: host.name, state: "applied", ssh: null },
    });
    expect((await owner.call("GET", `/hosts/${host.id}`)).body.data.host_keys).toEqual([]);
  });

  test("leaves a user at least one host, and takes no host that is being retired", async () => {
    const { id } = await person();
    expect(reasonOf(await owner.call("PUT", `/users/${id}/hosts`, { hosts: [], groups: [] }))).toBe("409 grant.last");
    const { name } = await insertHost(app, fresh("leaving"), { status: "retiring" });
    const retiring = await owner.call("PUT", `/users/${id}/hosts`, { hosts: [name], groups: ["default"] });
    expect(reasonOf(retiring)).toBe("409 host.retiring");
    expect(reasonOf(await owner.call("PUT", `/users/${id}/hosts`, { hosts: ["x"], groups: [] }))).toBe(
      "400 host.missing",
    );
    expect(reasonOf(await owner.call("PUT", "/users/999999/hosts", { hosts: ["local"], groups: [] }))).toBe(
      "404 user.missing",
    );
  });

  test("by several at once leaves what the last one set, and nothing removed that is there", async () => {
    const { id, username } = await person();
    const names = [fresh("r"), fresh("r"), fresh("r")];
    const rows = [];
    for (const name of names) rows.push(await insertHost(app, name));
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        owner.call("PUT", `/users/${id}/hosts`, { hosts: [names[index % 3]], groups: ["default"] }),
      ),
    );
    const now = await app.db.select().from(grants).where(eq(grants.userId, id));
    expect(now).toHaveLength(2);
    const kept = now.find(({ hostId }) => hostId !== null)?.hostId;
    const gone = rows.map((row) => row.id).filter((hostId) => hostId !== kept);
    const removed = (await app.db.select().from(removedAccounts)).filter(({ name }) => name === `ext_${username}`);
    const listed = new Set(removed.flatMap((row) => row.hosts));
    expect(listed.has(kept ?? 0)).toBe(false);
    for (const hostId of listed) expect(gone).toContain(hostId);
  });
});

describe("DELETE /hosts/:id", () => {
  test("retires, and forgets once the agent has confirmed", async () => {
    const user = await person();
    const host = await insertHost(app, fresh("leaver"), { appliedId: 0 });
    await owner.call("PUT", `/users/${user.id}/hosts`, { hosts: [host.name], groups: ["default"] });
    const preview = await owner.call("DELETE", `/hosts/${host.id}?preview=true`);
    expect(preview.body.data.accounts).toEqual({ opened: 0, shut: 0, removed: 1 });
    const answer = await owner.call("DELETE", `/hosts/${host.id}`);
    expect(answer.body.data).toEqual({
      ...{ status: "retiring", accounts: 1, effective_by: host.leaseUntil?.toISOString() },
    });
    const begun = await app.lastAudit("host.retire");
    expect(begun).toMatchObject({ resourceId: String(host.id), result: "success", detail: { accounts: 1 } });
    expect((await owner.call("DELETE", `/hosts/${host.id}`)).body.data.status).toBe("retiring");
    expect((await app.lastAudit("host.retire")).id).toBe(begun.id);
    expect(reasonOf(await owner.call("POST", `/hosts/${host.id}/lock`))).toBe("409 host.retiring");

    expect(await forgetRetired(app.services)).toEqual([]);
    await app.db.update(hosts).set({ appliedId: begun.id }).where(eq(hosts.id, host.id));
    const refused = {
      hostId: host.id,
      account: "ext_x",
      kind: "refused",
      text: "busy",
      since: app.clock.now(),
    } as const;
    await app.db.insert(hostProblems).values(refused);
    expect(await forgetRetired(app.services)).toEqual([]);
    await app.db.delete(hostProblems).where(eq(hostProblems.hostId, host.id));
    expect(
      await Promise.all([forgetRetired(app.services), forgetRetired(app.services)]).then((all) => all.flat()),
    ).toEqual([host.name]);
    expect(await app.lastAudit("host.forget")).toMatchObject({ actor: "system", detail: { host: host.name } });
    expect(reasonOf(await owner.call("GET", `/hosts/${host.id}`))).toBe("404 host.missing");
    expect((await hostsOf(user.id)).items.map((item: { host: string }) => item.host)).toEqual(["local"]);
  });

  test("of a host out of reach needs force, and says until when it may be open", async () => {
    const leaseUntil = shift(app.clock.now(), HOUR);
    const host = await insertHost(app, fresh("lost"), { lastSeenAt: shift(app.clock.now(), -3 * MINUTE), leaseUntil });
    const { id } = await person();
    await owner.call("PUT", `/users/${id}/hosts`, { hosts: [host.name], groups: ["default"] });
    await owner.call("PUT", `/users/${id}/hosts`, { hosts: [], groups: ["default"] });
    const refused = await owner.call("DELETE", `/hosts/${host.id}`);
    expect(reasonOf(refused)).toBe("409 host.unreachable");
    expect(refused.body.error).toContain(`may stay open until ${leaseUntil.toISOString()}`);
    const preview = await owner.call("DELETE", `/hosts/${host.id}?preview=true&force=true`);
    expect(preview.body.data.effects[0]).toBe(`${host.name} is forgotten at once.`);
    const forced = await owner.call("DELETE", `/hosts/${host.id}?force=true`);
    expect(forced.body.data).toEqual({ status: "forgotten", accounts: 0, effective_by: leaseUntil.toISOString() });
    expect(await app.lastAudit("host.forget")).toMatchObject({ actor: "admin", detail: { force: true } });
    expect((await app.db.select().from(removedAccounts)).some((row) => row.hosts.includes(host.id))).toBe(false);
    const never = await insertHost(app, fresh("endless"), { leaseMs: 0 });
    expect((await owner.call("DELETE", `/hosts/${never.id}?force=true`)).body.data.effective_by).toBeNull();
  });

  test("by force names the accounts that stay there, before and on record", async () => {
    const host = await insertHost(app, fresh("forced"), { leaseMs: HOUR });
    const people = [await person(), await person()];
    for (const { id } of people)
      await owner.call("PUT", `/users/${id}/hosts`, { hosts: [host.name], groups: ["default"] });
    const names = people.map(({ username }) => `ext_${username}`).sort();
    const preview = await owner.call("DELETE", `/hosts/${host.id}?preview=true&force=true`);
    expect(preview.body.data.effects.at(-1)).toStartWith(
      `2 accounts stay there (${names.join(", ")}), with everything`,
    );
    await owner.call("DELETE", `/hosts/${host.id}?force=true`);
    expect((await app.lastAudit("host.forget")).detail).toMatchObject({ accounts: 2, left: names.join(", ") });
  });
});

test("with no host but the service's own, no answer is another than before", async () => {
  const alone = await createTestApp();
  const client = await alone.admin();
  expect((await client.call("GET", "/admin/problems")).body.data).toEqual({ total: 0, items: [], receivers: [] });
  expect((await client.call("GET", "/hosts")).body.data.total).toBe(1);
  expect(await alone.db.select().from(users)).toEqual([]);
  await alone.close();
});

test.each([
  ["GET", ""],
  ["PATCH", ""],
  ["DELETE", ""],
  ["POST", "/lock"],
  ["POST", "/unlock"],
  ["GET", "/preview?group=default"],
])("%s /hosts/:id%s knows no number that is too large for a host", async (method, rest) => {
  const alone = await createTestApp();
  const client = await alone.admin();
  for (const id of ["2147483648", "9007199254740993"]) {
    const body = method === "PATCH" ? { lease: "1h" } : undefined;
    expect((await client.call(method, `/hosts/${id}${rest}`, body)).status).toBe(404);
  }
  await alone.close();
});
