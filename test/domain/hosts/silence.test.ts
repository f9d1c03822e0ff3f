import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { eq, ne } from "drizzle-orm";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { tellOfSilence } from "../../../src/domain/hosts/silence.ts";
import { HOUR, MINUTE, SECOND, shift } from "../../../src/shared/time/clock.ts";
import { hosts } from "../../../src/store/schema-fleet.ts";
import { ADMIN_PASSWORD, createTestApp } from "../../support/app.ts";
import { insertHost } from "../../support/host-rows.ts";

const app = await createTestApp();
afterAll(() => app.close());
await addAdmin(app.system, "root-admin", "root@example.org", ADMIN_PASSWORD);
await addAdmin(app.system, "auditor", "auditor@example.org", ADMIN_PASSWORD, "auditor");

let startedAt: Date;
beforeEach(async () => {
  await app.db.delete(hosts).where(ne(hosts.id, 1));
  app.clock.advance(HOUR);
  startedAt = app.clock.now();
});

/** The subjects of the mails that this brings about. */
async function told(): Promise<readonly string[]> {
  const before = (await app.mails()).length;
  await tellOfSilence(app.services, startedAt);
  const mails = (await app.mails()).slice(before);
  expect(mails.map(({ recipient }) => recipient)).toEqual(mails.map(() => "root@example.org"));
  return mails.map(({ subject }) => subject);
}

/** The agent is heard of, and gets its lease again. */
async function hear(id: number): Promise<void> {
  const now = app.clock.now();
  await app.db
    .update(hosts)
    .set({ lastSeenAt: now, leaseUntil: shift(now, 4 * HOUR) })
    .where(eq(hosts.id, id));
}

describe("tellOfSilence()", () => {
  test("mails once when a quarter of the lease has passed, once when it has ended, and once when the host is back", async () => {
    const { id } = await insertHost(app, "web1");
    app.clock.advance(HOUR - SECOND);
    expect(await told()).toEqual([]);
    app.clock.advance(SECOND);
    expect(await told()).toEqual(["127.0.0.1: web1 has not been heard of"]);
    app.clock.advance(HOUR);
    expect(await told()).toEqual([]);
    app.clock.advance(2 * HOUR);
    expect(await told()).toEqual(["127.0.0.1: nobody can log in to web1 any more"]);
    app.clock.advance(HOUR);
    expect(await told()).toEqual([]);
    await hear(id);
    expect(await told()).toEqual(["127.0.0.1: web1 is back"]);
    app.clock.advance(MINUTE);
    expect(await told()).toEqual([]);
    app.clock.advance(HOUR);
    expect(await told()).toHaveLength(1);
  });

  test("names several hosts in one mail, also when two instances look at once", async () => {
    for (const name of ["a1", "a2", "a3"]) await insertHost(app, name);
    app.clock.advance(HOUR);
    const before = (await app.mails()).length;
    await Promise.all([tellOfSilence(app.services, startedAt), tellOfSilence(app.services, startedAt)]);
    const mails = (await app.mails()).slice(before);
    expect(mails.map(({ subject }) => subject)).toEqual(["127.0.0.1: 3 hosts have not been heard of"]);
    expect(mails[0]?.text).toContain("a3");
  });

  test("says nothing of hosts that could not be heard because the service was stopped", async () => {
    const { id } = await insertHost(app, "web2");
    app.clock.advance(10 * HOUR);
    startedAt = app.clock.now();
    expect(await told()).toEqual([]);
    app.clock.advance(HOUR - MINUTE);
    await hear(id);
    app.clock.advance(MINUTE);
    expect(await told()).toEqual([]);
  });

  test("says at once that a host is shut that is not back an hour after the service is", async () => {
    await insertHost(app, "web3");
    app.clock.advance(10 * HOUR);
    startedAt = app.clock.now();
    app.clock.advance(HOUR);
    expect(await told()).toEqual(["127.0.0.1: nobody can log in to web3 any more"]);
  });

  test("goes by the lease in force, and never says of a host without one that it is shut", async () => {
    await insertHost(app, "short", { leaseMs: 20 * MINUTE, leaseUntil: shift(app.clock.now(), 20 * MINUTE) });
    await insertHost(app, "endless", { leaseMs: 0, leaseUntil: new Date("9999-12-31T23:59:59.999Z") });
    app.clock.advance(5 * MINUTE);
    expect(await told()).toEqual(["127.0.0.1: short has not been heard of"]);
    app.clock.advance(HOUR);
    expect(await told()).toEqual([
      "127.0.0.1: endless has not been heard of",
      "127.0.0.1: nobody can log in to short any more",
    ]);
    app.clock.advance(100 * HOUR);
    expect(await told()).toEqual([]);
  });

  test("leaves a host alone that is just being heard of", async () => {
    const { id } = await insertHost(app, "busy");
    app.clock.advance(HOUR);
    await app.db.transaction(async (tx) => {
      await tx.update(hosts).set({ lastSeenAt: app.clock.now() }).where(eq(hosts.id, id));
      expect(await told()).toEqual([]);
    });
  });
});
