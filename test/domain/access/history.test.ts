/** The log, read record by record, beside what the tables said at each of these moments, over lives drawn at random. */

import { afterEach, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { type Asked, pastAccessAt } from "../../../src/domain/access/past-access.ts";
import { createCompany } from "../../../src/domain/companies/companies.ts";
import { updateCompany } from "../../../src/domain/companies/update.ts";
import { createExportPlaces } from "../../../src/domain/exports/places.ts";
import { setUserHosts } from "../../../src/domain/hosts/grants.ts";
import { createGroup, updateGroup } from "../../../src/domain/hosts/groups.ts";
import { lockHost, unlockHost, updateHost } from "../../../src/domain/hosts/hosts.ts";
import { retireHost } from "../../../src/domain/hosts/retirement.ts";
import { revokeKey, uploadKey } from "../../../src/domain/keys/keys.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { followDueHours } from "../../../src/domain/lifecycle/hours.ts";
import { expireDue, recycleDue } from "../../../src/domain/lifecycle/lifecycle.ts";
import { audited } from "../../../src/domain/operation/audited.ts";
import { createProfile } from "../../../src/domain/profiles/profiles.ts";
import { updateProfile } from "../../../src/domain/profiles/update.ts";
import { endAllowances } from "../../../src/domain/requests/after-restore.ts";
import { allowAccess } from "../../../src/domain/requests/allow.ts";
import { endAccess } from "../../../src/domain/requests/end.ts";
import { extendUser, moveEnd } from "../../../src/domain/users/extend.ts";
import { lockOwnAccount } from "../../../src/domain/users/own-lock.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { createUser, deleteUser, disableUser, enableUser } from "../../../src/domain/users/users.ts";
import { UamError } from "../../../src/shared/errors.ts";
import { parseHours } from "../../../src/shared/hours/text.ts";
import { REQUEST_RULES } from "../../../src/shared/product/statuses.ts";
import { DAY, HOUR } from "../../../src/shared/time/clock.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { seededRandom } from "../../support/audit-log.ts";
import { joinedAgent } from "../../support/fleet.ts";
import { freshKey } from "../../support/keys.ts";
import { isThorough } from "../../support/thorough.ts";
import { type Stored, storedAt } from "./oracle.ts";

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

const STEPS = 100;
/** What kept accounts shut, over all histories. */
const seen = new Set<string>();

describe("over histories drawn at random", () => {
  test.each(Array.from({ length: isThorough ? 8 : 1 }, (_, seed) => seed + 1))("seed %i", async (seed) => {
    const app = await opened();
    const life = await createLife(app, seed);
    const moments: { readonly at: Date; readonly was: readonly Stored[] }[] = [];
    for (let step = 0; step < STEPS; step += 1) {
      await life.step();
      moments.push({ at: app.clock.now(), was: await storedAt(app.db, app.clock.now()) });
      app.clock.advance(life.pause());
    }
    for (const { at, was: stored } of moments) {
      const was = stored.filter(({ shutBy }) => shutBy === undefined);
      expect({ at, told: await told(app, { at }) }).toEqual({ at, told: was.map(({ line }) => line) });
      const { company, host } = was[Math.floor(was.length / 2)] ?? { company: "", host: "local" };
      const ofCompany = was.filter((one) => one.company === company).map(({ line }) => line);
      expect({ at, company, told: await told(app, { at, company }) }).toEqual({ at, company, told: ofCompany });
      const onHost = was.filter((one) => one.company === company && one.host === host).map(({ line }) => line);
      const both = { at, company, host };
      expect({ ...both, told: await told(app, both) }).toEqual({ ...both, told: onHost });
    }
    for (const { shutBy, company } of moments.flatMap(({ was }) => was)) {
      seen.add(shutBy ?? (company === "" ? "open" : "open, of a company"));
    }
    for (const { line, shutBy } of moments.flatMap(({ was }) => was)) {
      if (shutBy === undefined && line.includes(": may "))
        seen.add(line.includes("by group ") ? "profile, by group" : "profile");
    }
    expect(moments.filter(({ was }) => was.some(({ shutBy }) => shutBy === undefined)).length).toBeGreaterThan(5);
  });

  test.if(isThorough)("each of what keeps accounts shut was among them", () => {
    expect([...seen].sort()).toEqual([
      "company",
      "host",
      "hours",
      "open",
      "open, of a company",
      "profile",
      "profile, by group",
      "request",
      "start",
    ]);
  });
});

async function told(app: TestApp, asked: Asked): Promise<string[]> {
  const { items } = await pastAccessAt(app.system, asked, places);
  return items.map(
    ({ username, host, until, fingerprints, profile }) =>
      `${username} ${host} ${until.toISOString()} ${[...fingerprints].sort().join(" ")} ${profile}`,
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

  const hours = () => (random() < 0.4 ? null : oneOf(HOURS));
  const onRequest = () =>
    random() < 0.4 ? null : { rule: oneOf(REQUEST_RULES), maxHours: 1 + Math.floor(random() * 24) };
  const allowing = () => ({
    hours: 1 + Math.floor(random() * 24),
    hosts: random() < 0.5 ? null : [oneOf(["local", "one", "two", "three"]), "two"],
  });
  const start = () => (random() < 0.7 ? null : new Date(clock.now().getTime() + Math.floor(1 + random() * 2 * DAY)));

  // Access on request is for users of the service's own host alone, and hours of groups are for further hosts.
  groups.push((await createGroup(system, { name: "night", hours: hours() })).row.id);
  for (const name of ["one", "two", "three"]) {
    await joinedAgent(app, name, oneOf(seed % 2 === 0 ? ["", "night"] : ["", "default", "night"]));
    const [row] = await db.execute<{ id: number }>(sql`select id from hosts where name = ${name}`);
    hosts.push(Number(row?.id));
  }

  await createProfile(system, { name: "anything", kind: "shell", forwarding: true });
  await createProfile(system, { name: "inside", kind: "shell", forwarding: false });
  await createProfile(system, { name: "database", kind: "forward", targets: ["db1:5432"] });
  const profile = () => oneOf([null, null, "anything", "inside", "database"]);

  const timesOfNew = () => ({
    ...(random() < 0.3 ? { hours: hours() } : {}),
    ...(random() < 0.2 ? { onRequest: onRequest() } : {}),
    startsAt: start() ?? undefined,
  });
  const create = async () => {
    made += 1;
    const username = `user${made}`;
    const ttlDays = 1 + Math.floor(random() * 40);
    const companyId = random() < 0.6 ? oneOf(companies) : undefined;
    const given = random() < 0.3 ? { profile: profile() } : {};
    const user = { username, email: `${username}@example.org`, ttlDays, companyId, ...given, ...timesOfNew() };
    users.push((await createUser(system, user)).id);
  };
  const upload = async () => {
    const user = oneOf(users);
    keys.push({ user, id: (await uploadKey(system, user, { name: "key", publicKey: freshKey() })).id });
  };
  const addCompany = async (hostGroups: readonly string[]) => {
    made += 1;
    const limits = random() < 0.3 ? { hours: hours() } : {};
    companies.push((await createCompany(system, { name: `company${made}`, hostGroups, ...limits })).row.id);
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
    ...Array.from({ length: 2 }, () => () => updateUser(system, oneOf(users), { profile: profile() })),
    () => updateGroup(system, oneOf(groups), { profile: profile() }),
    async () => {
      const changes = [{ targets: ["db2:5432"] }, { targets: ["db1:5432"] }, { secondFactor: "verified" }] as const;
      await updateProfile(system, "database", oneOf(changes));
    },
    () => updateProfile(system, "anything", { forwarding: random() < 0.5 }),
    ...Array.from({ length: 2 }, () => () => updateUser(system, oneOf(users), { hours: hours() })),
    ...Array.from({ length: 2 }, () => () => updateUser(system, oneOf(users), { onRequest: onRequest() })),
    () => updateUser(system, oneOf(users), { startsAt: start() }),
    () => updateCompany(system, oneOf(companies), { hours: hours() }),
    ...Array.from({ length: 2 }, () => () => updateGroup(system, oneOf(groups), { hours: hours() })),
    ...Array.from({ length: 8 }, () => () => allowAccess(system, oneOf(users), allowing())),
    () => endAccess(system, oneOf(users)),
    () => (random() < 0.2 ? restored(app) : Promise.resolve()),
    () => followDueHours(app.services, app.config.dataDir),
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
    /** Until the next deed: mostly a moment, so that histories have users in them. */
    pause: () => (random() < 0.3 ? Math.floor(random() * 8 * HOUR) : 1000),
  };
}

/** In zones that never change their clocks. */
const HOURS = [
  "mon-sun 06:00-18:00 UTC",
  "mon,tue,wed,fri 20:00-08:00; sun 00:00-24:00 Asia/Kolkata",
  "sat-thu 03:30-21:15 UTC",
].map(parseHours);

/** As the restore of a backup that was made just now. */
async function restored({ system, clock }: TestApp): Promise<void> {
  await audited(system, { action: "service.restore" }, async (op) => {
    await endAllowances(op.tx, clock.now());
  });
}
