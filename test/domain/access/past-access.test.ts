/** What the log says of the past, beside what the tables said at that moment. */

import { afterEach, describe, expect, test } from "bun:test";
import { pastAccessAt } from "../../../src/domain/access/past-access.ts";
import { createCompany } from "../../../src/domain/companies/companies.ts";
import { createExportPlaces } from "../../../src/domain/exports/places.ts";
import { revokeKey, uploadKey } from "../../../src/domain/keys/keys.ts";
import { allowAccess } from "../../../src/domain/requests/allow.ts";
import type { NewUser } from "../../../src/domain/users/new-user.ts";
import { createUser, deleteUser, disableUser } from "../../../src/domain/users/users.ts";
import { parseHours } from "../../../src/shared/hours/text.ts";
import { DAY, HOUR } from "../../../src/shared/time/clock.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

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
const then = async (app: TestApp, at: Date) => (await pastAccessAt(app.system, { at }, places)).items;

describe("pastAccessAt()", () => {
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
        userId: alice.id,
        username: "alice",
        isDeleted: true,
        host: "local",
        until: new Date(withoutKey.getTime() + 10 * DAY),
        fingerprints: [fingerprint],
        decidedBy: "root-admin",
        profile: "",
      },
    ]);
    expect(await then(app, clock.now())).toEqual([]);
  });

  test("leaves out who is outside of hours, has not started, or was allowed nothing; what is on request ends when it was to", async () => {
    const app = await opened();
    const { system, clock } = app;
    const operator = { ...system, actor: { type: "admin", name: "olga", ip: "192.0.2.1" } } as const;
    const company = await createCompany(system, { name: "Acme", hours: parseHours("fri 08:00-12:00 UTC") });
    const make = async (username: string, times: Partial<NewUser>) => {
      const user = await createUser(system, { username, email: `${username}@example.org`, ttlDays: 10, ...times });
      await uploadKey(system, user.id, { name: "laptop", publicKey: freshKey() });
      return user;
    };
    // It is Friday, eight o'clock.
    const begun = clock.now();
    await make("always", {});
    await make("later", { startsAt: new Date(begun.getTime() + 2 * HOUR) });
    await make("hourly", { hours: parseHours("fri 09:00-10:00 UTC") });
    await make("of-acme", { companyId: company.row.id });
    const asked = await make("asked", { onRequest: { rule: "review", maxHours: 4 } });
    clock.advance(HOUR);
    const allowedAt = clock.now();
    await allowAccess(operator, asked.id, { hours: 2, hosts: null });
    clock.advance(6 * HOUR);

    const namedAt = async (hours: number) =>
      (await then(app, new Date(begun.getTime() + hours * HOUR))).map(({ username }) => username);
    expect(await namedAt(0)).toEqual(["always", "of-acme"]);
    expect(await namedAt(1)).toEqual(["always", "asked", "hourly", "of-acme"]);
    expect(await namedAt(2)).toEqual(["always", "asked", "later", "of-acme"]);
    expect(await namedAt(3)).toEqual(["always", "later", "of-acme"]);
    expect(await namedAt(4)).toEqual(["always", "later"]);
    expect((await then(app, allowedAt)).find(({ username }) => username === "asked")).toMatchObject({
      until: new Date(allowedAt.getTime() + 2 * HOUR),
      decidedBy: "olga",
    });
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
      const { completeFrom, unknown } = await pastAccessAt(system, { at }, places);
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
    await expect(pastAccessAt(app.system, { at: later }, places)).rejects.toThrow("at lies in the future");
    const [first, second] = await Promise.allSettled([then(app, app.clock.now()), then(app, app.clock.now())]);
    expect([first.status, second.status]).toEqual(["fulfilled", "rejected"]);
  });
});
