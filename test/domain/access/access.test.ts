/** What the log says of the past, beside what the tables said at that moment. */

import { afterEach, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { type Asked, accessAt } from "../../../src/domain/access/access.ts";
import { createCompany } from "../../../src/domain/companies/companies.ts";
import { updateCompany } from "../../../src/domain/companies/update.ts";
import { createExportPlaces } from "../../../src/domain/exports/places.ts";
import { setUserHosts } from "../../../src/domain/hosts/grants.ts";
import { createGroup, updateGroup } from "../../../src/domain/hosts/groups.ts";
import { lockHost, unlockHost, updateHost } from "../../../src/domain/hosts/hosts.ts";
import { retireHost } from "../../../src/domain/hosts/retirement.ts";
import { revokeKey, uploadKey } from "../../../src/domain/keys/keys.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish.ts";
import { expireDue, recycleDue } from "../../../src/domain/lifecycle/lifecycle.ts";
import { extendUser, moveEnd } from "../../../src/domain/users/extend.ts";
import { lockOwnAccount } from "../../../src/domain/users/own-lock.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { createUser, deleteUser, disableUser, enableUser } from "../../../src/domain/users/users.ts";
import { UamError } from "../../../src/shared/errors.ts";
import { DAY, HOUR } from "../../../src/shared/time/clock.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { seededRandom } from "../../support/audit-log.ts";
import { joinedAgent } from "../../support/fleet.ts";
import { freshKey } from "../../support/keys.ts";
import { isThorough } from "../../support/thorough.ts";

const open: TestApp[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
});

async function opened(): Promise<TestApp> {
  const app = await createTestApp();
  open.push(app);
  return app;
}

const places = createExportPlaces(1);
const then = async (app: TestApp, at: Date) => (await accessAt(app.system, { at }, places)).items;

describe("accessAt()", () => {
  test("names who had access, where, until when, with which keys, and by whose decision", async () => {
    const app = await opened();
    const { system, clock } = app;
    const admin = { ...system, actor: { type: "admin", name: "root-admin", ip: "192.0.2.1" } } as const;
    const before = clock.now();
    clock.advance(1000);
    const alice = await createUser(admin, { username: "alice", email: "alice@example.org", ttlDays: 10 });
    const withoutKey = clock.now();
    clock.advance(1000);
    const { id, fingerprint } = await uploadKey(admin, alice.id, { name: "laptop", publicKey: freshKey() });
    const withKey = clock.now();
    clock.advance(HOUR);
    await revokeKey(admin, alice.id, id);
    await deleteUser(admin, alice.id);

    expect(await then(app, before)).toEqual([]);
    expect(await then(app, withoutKey)).toEqual([]);
    expect(await then(app, withKey)).toEqual([
      {
        username: "alice",
        host: "local",
        until: new Date(withoutKey.getTime() + 10 * DAY),
        fingerprints: [fingerprint],
        decidedBy: "root-admin",
      },
    ]);
    expect(await then(app, clock.now())).toEqual([]);
  });

  test("a closing that the host did not finish counts from its record on; one that was refused counts nothing", async () => {
    const app = await opened();
    const { system, clock, host } = app;
    const alice = await createUser(system, { username: "alice", email: "alice@example.org" });
    await uploadKey(system, alice.id, { name: "laptop", publicKey: freshKey() });
    clock.advance(1000);
    await expect(disableUser(system, alice.id, { unchangedSince: new Date(0) })).rejects.toThrow("changed since");
    expect(await then(app, clock.now())).toHaveLength(1);
    clock.advance(1000);
    host.failing.add("emptyFile");
    await expect(disableUser(system, alice.id)).rejects.toThrow("alice is disabled");
    expect(await then(app, clock.now())).toEqual([]);
  });

  test("says from when on it is complete, and how many users it may lack", async () => {
    const app = await opened();
    const { system, clock } = app;
    const begun = clock.now();
    const alice = await createUser(system, { username: "alice", email: "alice@example.org" });
    const bob = await createUser(system, { username: "bob", email: "bob@example.org" });
    clock.advance(HOUR);
    await uploadKey(system, alice.id, { name: "laptop", publicKey: freshKey() });
    const reach = async (at: Date) => {
      const { completeFrom, unknown } = await accessAt(system, { at }, places);
      return { completeFrom, unknown };
    };
    expect(await reach(clock.now())).toEqual({ completeFrom: begun, unknown: 0 });

    // As retention does, but for the proof that it leaves.
    await app.alter("alter table audit disable trigger all; delete from audit where action = 'user.create'");
    expect(await reach(clock.now())).toEqual({ completeFrom: null, unknown: 2 });
    const both = clock.now();
    clock.advance(HOUR);
    await deleteUser(system, alice.id);
    await deleteUser(system, bob.id);
    expect(await reach(both)).toEqual({ completeFrom: clock.now(), unknown: 2 });
    expect(await reach(clock.now())).toEqual({ completeFrom: clock.now(), unknown: 0 });
  });

  test("refuses the future, and a second question at the same time", async () => {
    const app = await opened();
    const later = new Date(app.clock.now().getTime() + 1);
    await expect(accessAt(app.system, { at: later }, places)).rejects.toThrow("at lies in the future");
    const [first, second] = await Promise.allSettled([then(app, app.clock.now()), then(app, app.clock.now())]);
    expect([first.status, second.status]).toEqual(["fulfilled", "rejected"]);
  });
});

describe("over histories drawn at random", () => {
  test.each(Array.from({ length: isThorough ? 8 : 1 }, (_, seed) => seed + 1))("seed %i", async (seed) => {
    const app = await opened();
    const life = await createLife(app, seed);
    const moments: { readonly at: Date; readonly was: readonly Stored[] }[] = [];
    for (let step = 0; step < 100; step += 1) {
      await life.step();
      moments.push({ at: app.clock.now(), was: await life.stored() });
      app.clock.advance(1000);
    }
    for (const { at, was } of moments) {
      expect({ at, told: await told(app, { at }) }).toEqual({ at, told: was.map(({ line }) => line) });
      const { company, host } = was[Math.floor(was.length / 2)] ?? { company: "", host: "local" };
      const ofCompany = was.filter((one) => one.company === company).map(({ line }) => line);
      expect({ at, company, told: await told(app, { at, company }) }).toEqual({ at, company, told: ofCompany });
      const onHost = was.filter((one) => one.company === company && one.host === host).map(({ line }) => line);
      const both = { at, company, host };
      expect({ ...both, told: await told(app, both) }).toEqual({ ...both, told: onHost });
    }
    const ofCompanies = moments.filter(({ was }) => was.some(({ company }) => company !== ""));
    expect(ofCompanies.length).toBeGreaterThan(0);
    expect(moments.filter(({ was }) => was.length > 0).length).toBeGreaterThan(5);
  });
});

/** An account that is open by the tables. */
interface Stored {
  readonly line: string;
  readonly company: string;
  readonly host: string;
}

async function told(app: TestApp, asked: Asked): Promise<string[]> {
  const { items } = await accessAt(app.system, asked, places);
  return items.map(
    ({ username, host, until, fingerprints }) =>
      `${username} ${host} ${until.toISOString()} ${[...fingerprints].sort().join(" ")}`,
  );
}

/** Somebody who does whatever comes to mind, and what the tables then say. */
async function createLife(app: TestApp, seed: number) {
  const { db, clock, host } = app;
  // No agent confirms anything here.
  const system = { ...app.system, policy: { ...app.system.policy, fleetWait: 0 } };
  const random = seededRandom(seed);
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const users: number[] = [];
  const keys: { readonly user: number; readonly id: number }[] = [];
  const hosts: number[] = [];
  const groups: number[] = [1];
  const companies: number[] = [];
  let made = 0;

  for (const name of ["one", "two", "three"]) {
    await joinedAgent(app, name, oneOf(["", "default"]));
    const [row] = await db.execute<{ id: number }>(sql`select id from hosts where name = ${name}`);
    hosts.push(Number(row?.id));
  }

  const create = async () => {
    made += 1;
    const username = `user${made}`;
    const ttlDays = 1 + Math.floor(random() * 40);
    const companyId = random() < 0.6 ? oneOf(companies) : undefined;
    users.push((await createUser(system, { username, email: `${username}@example.org`, ttlDays, companyId })).id);
  };
  const upload = async () => {
    const user = oneOf(users);
    keys.push({ user, id: (await uploadKey(system, user, { name: "key", publicKey: freshKey() })).id });
  };
  const addCompany = async (hostGroups: readonly string[]) => {
    made += 1;
    companies.push((await createCompany(system, { name: `company${made}`, hostGroups })).row.id);
  };
  // Without groups of its own anybody can come from it: every history has users of a company.
  await addCompany([]);
  await create();
  await upload();

  const deeds: readonly (() => Promise<unknown>)[] = [
    ...[create, create, create, upload, upload, upload, upload],
    async () => {
      const { user, id } = oneOf(keys);
      await revokeKey(system, user, id);
    },
    () => disableUser(system, oneOf(users)),
    ...Array.from({ length: 3 }, () => () => enableUser(system, oneOf(users))),
    () => lockOwnAccount(system, oneOf(users)),
    () => extendUser(system, oneOf(users), Math.floor(random() * 30)),
    () => moveEnd(system, oneOf(users), { until: new Date(clock.now().getTime() + Math.floor(random() * 30 * DAY)) }),
    () => (random() < 0.3 ? deleteUser(system, oneOf(users)) : Promise.resolve()),
    async () => {
      const named = (table: "hosts" | "host_groups") =>
        db.execute<{ name: string }>(sql`select name from ${sql.identifier(table)} order by id`);
      const [allHosts, allGroups] = [await named("hosts"), await named("host_groups")];
      const some = (rows: readonly { readonly name: string }[]) =>
        rows.map(({ name }) => name).filter(() => random() < 0.4);
      await setUserHosts(system, oneOf(users), { hosts: some(allHosts), groups: some(allGroups) });
    },
    async () => {
      const [row] = await db.execute<{ name: string }>(sql`select name from host_groups where id = ${oneOf(groups)}`);
      await addCompany(row === undefined ? [] : [row.name]);
    },
    () => {
      made += 1;
      return updateCompany(system, oneOf(companies), { name: `company${made}` });
    },
    ...Array.from({ length: 2 }, () => async () => {
      const companyId = random() < 0.7 ? oneOf(companies) : null;
      const sourceNetworks = random() < 0.5 ? undefined : random() < 0.5 ? [] : [`198.51.100.${made % 200}/32`];
      await updateUser(system, oneOf(users), { companyId, sourceNetworks });
    }),
    async () => {
      made += 1;
      groups.push((await createGroup(system, { name: `group${made}` })).row.id);
    },
    async () => {
      const [row] = await db.execute<{ name: string }>(sql`select name from hosts where id = ${oneOf(hosts)}`);
      const change = oneOf(["add", "remove"] as const);
      await updateGroup(system, oneOf(groups), row === undefined ? {} : { [change]: [row.name] });
    },
    () => {
      made += 1;
      return updateGroup(system, oneOf(groups), {
        name: `group${made}`,
        ...(random() < 0.5 ? { isDefault: true } : {}),
      });
    },
    () => {
      made += 1;
      return updateHost(system, oneOf(hosts), { name: `host${made}` });
    },
    () => lockHost(system, oneOf(hosts)),
    () => unlockHost(system, oneOf(hosts)),
    () => (random() < 0.1 ? retireHost(system, oneOf(hosts), { force: random() < 0.5 }) : Promise.resolve()),
    async () => {
      clock.advance(Math.floor(random() * 5 * DAY));
      const now = clock.now();
      await expireDue(system, { now, holdUntil: undefined });
      await recycleDue(system, { now, holdUntil: undefined });
    },
    () => finishClosings(app.services, "all"),
  ];

  return {
    /** One deed; the host may fail meanwhile. */
    async step(): Promise<void> {
      const failure =
        random() < 0.15
          ? oneOf(["takeKey", "shortenAccount", "endProcesses", "emptyFile", "removeAccount"] as const)
          : undefined;
      if (failure !== undefined) host.failing.add(failure);
      try {
        await oneOf(deeds)();
      } catch (error) {
        if (!(error instanceof UamError)) throw error;
      } finally {
        host.failing.clear();
      }
    },
    /** The accounts that are open by the tables, as lines in the order of the answer. */
    async stored(): Promise<Stored[]> {
      const rows = await db.execute<{ line: string; company: string; host: string }>(sql`
        with places as (
          select user_id, host_id from grants where host_id is not null
          union select g.user_id, m.host_id from grants g join host_group_members m on m.group_id = g.group_id)
        select coalesce(c.name, '') as company, h.name as host, u.username || ' ' || h.name || ' ' || to_char(u.expire_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || ' '
          || string_agg(k.fingerprint, ' ' order by k.fingerprint collate "C") as line
        from users u left join companies c on c.id = u.company_id join places p on p.user_id = u.id join hosts h on h.id = p.host_id join ssh_keys k on k.user_id = u.id
        where u.status = 'active' and u.expire_at > ${clock.now().toISOString()}::timestamptz and h.status = 'active'
          and k.status = 'active' and not exists (select 1 from closings x where x.user_id = u.id and x.kind in ('shut', 'remove'))
        group by u.id, u.username, u.expire_at, h.name, c.name order by u.username collate "C", h.name collate "C"`);
      return rows.map(({ line, company, host: name }) => ({ line, company, host: name }));
    },
  };
}
