import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { HOUR, systemClock } from "../../../../src/shared/time/clock.ts";
import { type DatabaseHandle, openDatabase } from "../../../../src/store/client.ts";
import { hostProblems, hosts } from "../../../../src/store/schema-fleet.ts";
import { createTestCli, type TestCli } from "../../../support/cli.ts";
import { createTestClock } from "../../../support/clock.ts";
import { grantDefault, insertHost } from "../../../support/host-rows.ts";

let cli: TestCli;
let handle: DatabaseHandle;
const clock = createTestClock();
beforeAll(async () => {
  cli = await createTestCli({ UAM_BASE_URL: "https://uam.example.org", UAM_FLEET_WAIT: "1s" });
  handle = openDatabase({ url: cli.variables.UAM_DATABASE_URL ?? "" }, 1);
  clock.advance(systemClock.now().getTime() - clock.now().getTime());
  const { id } = await cli.json(["user", "create", "alice", "--email", "alice@example.org"]);
  await grantDefault({ db: handle.db, clock }, id);
});
afterAll(async () => {
  await handle.close();
  await cli.close();
});

const add = (name: string, wanted: Parameters<typeof insertHost>[2] = {}) =>
  insertHost({ db: handle.db, clock }, name, wanted);

describe("uam host", () => {
  test("token prints the line alone on standard output", async () => {
    const { code, stdout, stderr } = await cli.run(["host", "token", "--name", "web1"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^https:\/\/uam\.example\.org uamj_[\w-]{43} SHA256:[A-Za-z0-9+/]{43}\n$/);
    expect(stderr).toMatch(/^On the host that is to join, as root: uam agent join .* It works once, until \S+Z\.\n$/);
    expect(await cli.json(["host", "token"])).toEqual({
      ...{ line: expect.stringMatching(/ uamj_/), expires_at: expect.any(String) },
    });
    const taken = await cli.run(["host", "token", "--name", "local"]);
    expect([taken.code, taken.stdout, taken.stderr]).toEqual([
      ...[1, "", "uam: There is a host named local; retire it first, or choose another name\n"],
    ]);
  });

  test("list is a table that reads well in 80 columns", async () => {
    const { id } = await add("db-primary-in-the-second-room", { leaseMs: 0, groups: ["default"] });
    await add("web1");
    const narrow = await cli.run(["host", "list"], { columns: 80 });
    for (const line of narrow.stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(narrow.stdout).toMatch(/^ID +NAME +STATUS +PROBLEMS +LAST SEEN +LEASE/);
    expect(narrow.stdout).toMatch(/^1 +local +active +0 +here +- /m);
    expect(narrow.stdout).toMatch(new RegExp(`^${id} +db-primary-in\\S* +active +1 +\\S+Z +none`, "m"));
    const { total, items } = await cli.json(["host", "list", "--search", "web"]);
    expect([total, items[0].name]).toEqual([1, "web1"]);
    expect((await cli.json(["host", "list", "--group", "default"])).total).toBe(2);
  });

  test("show has the fields, and what is wrong", async () => {
    const { id } = await add("faulty");
    const since = clock.now();
    await handle.db
      .insert(hostProblems)
      .values({ hostId: id, account: "ext_alice", kind: "conflict", text: "\u001b[2Jthe uid is bob's", since });
    const { stdout } = await cli.run(["host", "show", "faulty"]);
    expect(stdout).toMatch(/^accounts +0, of which 0 open$/m);
    expect(stdout).toMatch(/^SINCE +KIND +ACCOUNT +PROBLEM$/m);
    expect(stdout).toMatch(/conflict +ext_alice +\\x1b\[2Jthe uid is bob's$/m);
    expect((await cli.json(["host", "show", String(id)])).name).toBe("faulty");
    const missing = await cli.run(["host", "show", "nowhere"]);
    expect([missing.code, missing.stderr]).toEqual([1, 'uam: There is no host named "nowhere"\n']);
  });

  test("update, lock and unlock change it, in the operator's name", async () => {
    await add("box");
    expect(await cli.json(["host", "update", "box", "--lease", "30m", "--lease-ends", "sessions"])).toMatchObject({
      ...{ lease: "30m", own_lease: "30m", lease_ends: "sessions" },
    });
    expect((await cli.json(["host", "update", "box", "--lease", "inherit"])).own_lease).toBeNull();
    expect((await cli.run(["host", "update", "box", "--lease", "1m"])).stderr).toContain("A lease is from 5m to 7d");
    expect((await cli.json(["host", "lock", "box"])).status).toBe("locked");
    expect((await cli.json(["host", "unlock", "box"])).status).toBe("active");
    const { items } = await cli.json(["audit", "list", "--action", "host.lock"]);
    expect(items[0]).toMatchObject({ actor_type: "cli", actor: "olga", result: "success" });
  });

  test("retire says what it would do, and asks", async () => {
    const { id } = await add("leaver");
    const preview = await cli.run(["host", "retire", "leaver", "--preview"]);
    expect(preview.stdout).toContain("leaver is forgotten once its agent has confirmed that.");
    expect((await cli.run(["host", "retire", "leaver"])).code).toBe(2);
    const no = await cli.run(["host", "retire", "leaver"], { ask: async () => "n" });
    expect([no.code, no.stderr]).toEqual([1, "Nothing was changed.\n"]);
    const yes = await cli.run(["host", "retire", "leaver", "--yes"]);
    expect(yes.stdout).toMatch(/^status +retiring$/m);
    await handle.db.update(hosts).set({ lastSeenAt: null }).where(eq(hosts.id, id));
    expect((await cli.run(["host", "retire", "leaver", "--yes"])).stderr).toContain("has never been heard of");
    expect((await cli.json(["host", "retire", "leaver", "--yes", "--force"])).status).toBe("forgotten");
    expect((await cli.run(["host", "retire", "local", "--yes", "--force"])).code).toBe(1);
  });
});

describe("uam host group", () => {
  test("is made, changed and deleted", async () => {
    await add("node1");
    expect(await cli.json(["host", "group", "create", "web", "--host", "node1", "--lease", "1h"])).toMatchObject({
      ...{ name: "web", hosts: ["node1"], lease: "1h", users: 0, for_new_users: false },
    });
    await add("node2");
    const preview = await cli.run(["host", "group", "update", "web", "--add", "node2", "--preview"]);
    expect(preview.stdout).toBe("No account is added on node2.\n");
    const joined = await cli.json(["host", "group", "update", "web", "--add", "node2", "--remove", "node1"]);
    expect(joined.hosts).toEqual(["node2"]);
    expect((await cli.run(["host", "group", "update", "web"])).code).toBe(2);
    const { stdout } = await cli.run(["host", "group", "list"], { columns: 80 });
    expect(stdout).toMatch(/^ID +NAME +USERS +NEW USERS +LEASE +HOSTS$/m);
    expect(stdout).toMatch(/^\d+ +web +0 +- +1h +node2$/m);
    expect((await cli.run(["host", "group", "delete", "web"])).stderr).toBe("Deleted the group web.\n");
    expect((await cli.run(["host", "group", "delete", "default"])).stderr).toContain("New users get the group default");
  });
});

describe("uam user hosts", () => {
  test("shows and sets where a user has an account", async () => {
    await add("tools");
    const preview = await cli.run(["user", "hosts", "alice", "--set", "@default,tools", "--preview"]);
    expect(preview.stdout).toBe("alice can log in on tools, as ext_alice.\n");
    const { hosts: named, groups, items } = await cli.json(["user", "hosts", "alice", "--set", "@default, tools"]);
    expect([named, groups]).toEqual([["tools"], ["default"]]);
    expect(items.map((item: { host: string }) => item.host)).toEqual(expect.arrayContaining(["local", "tools"]));
    const { stdout } = await cli.run(["user", "hosts", "alice"], { columns: 80 });
    expect(stdout).toMatch(/^HOST +GROUP +STATE +SINCE/);
    expect(stdout).toMatch(/^tools +- +applied +\S+Z/m);
    await cli.run(["user", "hosts", "alice", "--set", "@default"]);
    expect((await cli.run(["user", "hosts", "alice"])).stdout).toMatch(/^tools +- +removing, pending/m);
    expect((await cli.run(["user", "hosts", "alice", "--set", ""])).stderr).toContain("at least one host or group");
    const without = await cli.run(["user", "hosts", "alice", "--set", "tools", "--preview"]);
    expect(without.stdout).toMatch(/^ext_alice is removed from local, .*with everything in its home directory\.$/m);
    expect((await cli.run(["user", "hosts", "alice", "--preview"])).code).toBe(2);
  });
});

test("uam fleet accept asks, and says how many hosts waited for it", async () => {
  expect((await cli.run(["fleet", "accept"])).code).toBe(2);
  expect((await cli.run(["fleet", "accept"], { ask: async () => "" })).stderr).toBe("Nothing was changed.\n");
  await add("odd", { divergedAt: clock.now() });
  expect((await cli.run(["fleet", "accept", "--yes"])).stderr).toBe("1 host had been waiting for that.\n");
  expect(await cli.json(["fleet", "accept", "--yes"])).toEqual({ hosts: 0, removed: [], unheard: [] });
});

test("completion offers hosts and groups by name", async () => {
  await add("complete-me");
  const offered = async (...words: readonly string[]) => (await cli.run(["completion", "bash", ...words])).stdout;
  expect(await offered("host", "show", "comp")).toContain("complete-me");
  expect(await offered("host", "group", "show", "def")).toContain("default");
  expect(await offered("host", "")).not.toContain("end-session");
});

test("the time of these tests is the real one", () => {
  expect(Math.abs(clock.now().getTime() - systemClock.now().getTime())).toBeLessThan(HOUR);
});
