/** Hours of a group with the service's own host: accounts there are open only within them, as on other hosts. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { allAccounts } from "../../../src/domain/accounts/account.ts";
import { requestAccess } from "../../../src/domain/approvals/access-requests.ts";
import { setUserHosts } from "../../../src/domain/hosts/grants.ts";
import { changeGroup, createGroup, deleteGroup, getGroup } from "../../../src/domain/hosts/groups.ts";
import { awaitNarrowing, passOwnHostHours } from "../../../src/domain/hosts/own-host-hours.ts";
import { uploadKey } from "../../../src/domain/keys/keys.ts";
import { followDueHours, nextHoursChange } from "../../../src/domain/lifecycle/hours.ts";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import { diagnoseUser } from "../../../src/domain/users/diagnosis.ts";
import { createUser, type NewUser } from "../../../src/domain/users/users.ts";
import { parseHours } from "../../../src/shared/hours/text.ts";
import { SECOND, shift } from "../../../src/shared/time/clock.ts";
import { users } from "../../../src/store/schema.ts";
import { hosts } from "../../../src/store/schema-fleet.ts";
import { createTestApp, loginUser, type TestApp } from "../../support/app.ts";
import { joinedAgent } from "../../support/fleet.ts";
import { freshKey } from "../../support/keys.ts";
import { untilWaiting } from "../../support/waiting.ts";

let app: TestApp;
let name: string;
let id: number;
let count = 0;
beforeAll(async () => {
  app = await createTestApp({ UAM_FLEET_WAIT: "1s" });
});
afterAll(() => app.close());
beforeEach(async () => {
  app.host.failing.clear();
  app.host.sessionsOpen.length = 0;
  // A Friday in winter: Berlin is at 11:00.
  app.clock.set(new Date("2026-11-27T10:00:00Z"));
  await give("always");
  await app.db.delete(users);
  app.host.accounts.clear();
});

const weekOf = (text: string) => (text === "always" ? null : parseHours(text));
async function give(text: string) {
  const { group: _, ...narrowing } = await changeGroup(app.system, "default", { hours: weekOf(text) });
  return narrowing;
}
const narrowedBy = async (text: string) => await awaitNarrowing(app.system, await give(text));
async function make(input: Partial<NewUser> = {}): Promise<void> {
  name = `own-${++count}`;
  ({ id } = await createUser(app.system, { username: name, email: `${name}@example.org`, ...input }));
  await uploadKey(app.system, id, { name: "k", publicKey: freshKey() });
}
const follow = async () => {
  app.clock.advance(SECOND);
  await followDueHours(app.services, app.config.dataDir);
};
const at = (text: string) => app.clock.set(new Date(text));
const account = () => app.host.accounts.get(`ext_${name}`);
const row = async () => (await app.db.select().from(users).where(eq(users.id, id)))[0];
const expectShut = () => expect(account()).toMatchObject({ open: false, file: [] });
const expectAsWanted = async () => {
  const wanted = (await allAccounts(app.services.db, app.clock.now())).find((one) => one.name === `ext_${name}`);
  expect(account()?.open).toBe(wanted?.open as boolean);
};

describe("hours of a group with the service's own host", () => {
  test("shut those outside of them, with their sessions, and open and shut at their second from then on", async () => {
    await make();
    expect(account()?.open).toBe(true);
    app.host.sessionsOpen.push({
      ...{ id: "1", since: app.clock.now(), from: "192.0.2.1", fingerprint: undefined },
      account: `ext_${name}`,
    });
    await give("fri 12:00-18:00 Europe/Berlin");
    await follow();
    expectShut();
    expect((await app.lastAudit("access.window")).detail).toMatchObject({ username: name, sessions: 1 });
    expect(await nextHoursChange(app.services, app.clock.now())).toEqual(new Date("2026-11-27T11:00:00Z"));
    at("2026-11-27T10:59:58.900Z");
    await follow();
    expectShut();
    await follow();
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-11-27T17:00:00Z") });
    at("2026-11-27T17:00:00Z");
    await follow();
    expectShut();
    await expectAsWanted();
  });

  test("are an intersection with the user's own, and with those of another group of the host", async () => {
    await make({ hours: parseHours("fri 10:00-14:00 Europe/Berlin") });
    expect(account()?.expireAt).toEqual(new Date("2026-11-27T13:00:00Z"));
    await give("fri 10:00-13:00 Europe/Berlin");
    await follow();
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-11-27T12:00:00Z") });
    const other = { name: "second", hosts: ["local"], hours: parseHours("fri 10:00-12:00 Europe/Berlin") };
    await createGroup(app.system, other);
    await follow();
    expect(account()?.expireAt).toEqual(new Date("2026-11-27T11:00:00Z"));
    await changeGroup(app.system, "second", { remove: ["local"] });
    await follow();
    expect(account()?.expireAt).toEqual(new Date("2026-11-27T12:00:00Z"));
    await changeGroup(app.system, "second", { add: ["local"] });
    await follow();
    expect(account()?.expireAt).toEqual(new Date("2026-11-27T11:00:00Z"));
    await deleteGroup(app.system, "second");
    await follow();
    expect(account()?.expireAt).toEqual(new Date("2026-11-27T12:00:00Z"));
    await give("always");
    await follow();
    expect(account()?.expireAt).toEqual(new Date("2026-11-27T13:00:00Z"));
  });

  test("hold for users who are made, and for keys that come, from the first moment on", async () => {
    await give("fri 12:00-18:00 Europe/Berlin");
    await make();
    expectShut();
    expect((await row())?.hoursDueAt).toEqual(new Date("2026-11-27T11:00:00Z"));
    at("2026-11-27T11:00:00Z");
    await follow();
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-11-27T17:00:00Z") });
    await make();
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-11-27T17:00:00Z") });
    await uploadKey(app.system, id, { name: "second", publicKey: freshKey() });
    expect(account()?.file).toHaveLength(2);
    expect((await row())?.hoursDueAt).toEqual(new Date("2026-11-27T17:00:00Z"));
  });

  test("count for an account that is given later, and not for one on other hosts", async () => {
    await joinedAgent(app, "web1", "");
    await give("fri 12:00-18:00 Europe/Berlin");
    await make();
    const set = (...names: string[]) => setUserHosts(app.system, id, { hosts: names, groups: [] });
    await set("web1");
    expect(account()).toBeUndefined();
    at("2026-11-27T10:30:00Z");
    await follow();
    expect((await row())?.hoursDueAt).toEqual(new Date("2026-11-27T11:00:00Z"));
    await set("web1", "local");
    expectShut();
    at("2026-11-27T11:00:00Z");
    await follow();
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-11-27T17:00:00Z") });
  });

  test("are named where somebody asks why a user cannot log in, unless another host lets them in", async () => {
    await joinedAgent(app, "web2", "");
    await make();
    await give("fri 12:00-18:00 Europe/Berlin");
    await follow();
    const diagnosed = async () => {
      const { can, because } = await diagnoseUser(app.system, id);
      return { can, reasons: because.map(({ reason }) => reason), text: because.map(({ text }) => text).join() };
    };
    const here = await diagnosed();
    expect(here).toMatchObject({ can: false, reasons: ["outside_hours"] });
    expect(here.text).toContain("2026-11-27T11:00:00.000Z");
    await setUserHosts(app.system, id, { hosts: ["web2", "local"], groups: [] });
    expect(await diagnosed()).toMatchObject({ can: false, reasons: ["outside_hours", "host_pending"] });
  });

  test("bound what is allowed on request to who has an account there alone", async () => {
    await give("fri 12:00-12:30 Europe/Berlin");
    await make({ onRequest: { rule: "self", maxHours: 4 } });
    const ask = async () => {
      const { cookie } = await loginUser(app.system, app.app, name);
      const token = decodeURIComponent(cookie.slice(cookie.indexOf("=") + 1));
      return await requestAccess(app.system, { userId: id, token }, { hours: 2, reason: "Deploy" });
    };
    await expect(ask()).rejects.toMatchObject({ reason: "access.outside_hours" });
    at("2026-11-27T11:00:00Z");
    expect(await ask()).toEqual({ until: new Date("2026-11-27T11:30:00Z") });
    expect(account()).toMatchObject({ open: true, expireAt: new Date("2026-11-27T11:30:00Z") });
    at("2026-11-27T11:30:00Z");
    await follow();
    expectShut();
  });

  test("are finished after a crash between storing and passing them on, and a host that fails is tried again", async () => {
    await make();
    await give("fri 12:00-18:00 Europe/Berlin");
    await app.db.update(users).set({ hoursDueAt: null });
    await app.db.update(hosts).set({ hoursDueAt: app.clock.now() }).where(eq(hosts.id, 1));
    await passOwnHostHours(app.services);
    app.host.failing.add("shutAccount");
    await follow();
    app.host.failing.clear();
    expect(account()?.open).toBe(true);
    // Nobody gives it a key meanwhile.
    const another = uploadKey(app.system, id, { name: "second", publicKey: freshKey() });
    await expect(another).rejects.toMatchObject({ reason: "user.not_active" });
    await reconcileHost(app.services, app.config.dataDir, "repair at once");
    expectShut();
    await expectAsWanted();
  });

  test("fewer of them say whether the own host has followed, and from when on they hold; more do not", async () => {
    await make();
    const none = { total: 1, confirmed: 0, pending: ["local"] };
    expect(await narrowedBy("fri 12:00-18:00 Europe/Berlin")).toEqual({ ...none, effectiveBy: null });
    await follow();
    at("2026-11-27T11:00:00Z");
    await follow();
    const effectiveBy = new Date("2026-11-27T17:00:00Z");
    expect(await narrowedBy("fri 12:00-13:00 Europe/Berlin")).toEqual({ ...none, effectiveBy });
    await follow();
    expect(await narrowedBy("fri 12:00-18:00 Europe/Berlin")).toBeUndefined();
    const service = setInterval(() => void follow(), 100);
    try {
      expect(await narrowedBy("fri 12:00-14:00 Europe/Berlin")).toMatchObject({ total: 1, confirmed: 1, pending: [] });
    } finally {
      clearInterval(service);
    }
    expect((await getGroup(app.system, "default")).row.hours).toBe("fri 12:00-14:00 Europe/Berlin");
  });
});

test("passOwnHostHours() waits for users who are being changed, and for nothing where nothing changed", async () => {
  await make();
  const before = await row();
  await passOwnHostHours(app.services);
  expect(await row()).toEqual(before as NonNullable<typeof before>);
  await app.db.update(hosts).set({ hoursDueAt: app.clock.now() }).where(eq(hosts.id, 1));
  let passed: Promise<void> | undefined;
  await app.db.transaction(async (tx) => {
    await tx.select().from(users).where(eq(users.id, id)).for("update");
    passed = passOwnHostHours(app.services);
    await untilWaiting(app.db);
    expect((await row())?.hoursDueAt).toBeNull();
  });
  await passed;
  expect((await row())?.hoursDueAt).toEqual(shift(app.clock.now(), SECOND / 4));
});
