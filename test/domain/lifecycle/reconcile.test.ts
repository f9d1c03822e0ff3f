import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import type { Account, Drift } from "../../../src/protocol/host.ts";
import { closings } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";
import { testSlow } from "../../support/thorough.ts";

let app: TestApp;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

describe("reconcileHost()", () => {
  test("repairs each account from what is stored under its row lock, not from what was compared", async () => {
    const first = await app.user("drift-a");
    await app.user("drift-b");
    const seen: { readonly accounts: readonly Account[]; readonly checkOnly: boolean }[] = [];
    const host = {
      ...app.host,
      async reconcile(accounts: readonly Account[], checkOnly: boolean): Promise<readonly Drift[]> {
        seen.push({ accounts, checkOnly });
        // While the comparison runs, a key is uploaded: the repair must know it.
        if (checkOnly) await first.client.call("POST", "/me/keys", { name: "late", public_key: freshKey() });
        const found = accounts.filter((account) => account.name === "ext_drift-a");
        return found.map((account) => ({
          account: account.name,
          kind: "key_file",
          problem: "differs",
          repaired: !checkOnly,
        }));
      },
    };
    const drifts = await reconcileHost({ ...app.services, host }, app.config.dataDir, "repair");
    expect(drifts).toEqual([{ account: "ext_drift-a", kind: "key_file", problem: "differs", repaired: true }]);
    expect(seen.map(({ accounts, checkOnly }) => [accounts.length, checkOnly])).toEqual([
      [2, true],
      [1, false],
    ]);
    expect(seen[1]?.accounts[0]?.keys).toHaveLength(1);
  });

  test("changes nothing when it only checks, and when nothing differs", async () => {
    const calls: boolean[] = [];
    const reconcile = async (_: readonly Account[], checkOnly: boolean): Promise<readonly Drift[]> => {
      calls.push(checkOnly);
      return calls.length <= 2
        ? [{ account: "ext_drift-a", kind: "key_file", problem: "differs", repaired: false }]
        : [];
    };
    const services = { ...app.services, host: { ...app.host, reconcile } };
    expect(await reconcileHost(services, app.config.dataDir, "check")).toHaveLength(1);
    expect(await reconcileHost(services, app.config.dataDir, "repair")).toEqual([]);
    expect(calls).toEqual([true, true, true]);
  });

  test("records a repair that failed, or was cut short, between the host and the log: once, and when it is over", async () => {
    const user = await app.user("drift-d");
    const other = await app.user("drift-e");
    const differing = new Set(["ext_drift-d", "ext_drift-e"]);
    const reconcile = async (accounts: readonly Account[], checkOnly: boolean): Promise<readonly Drift[]> => {
      const found = accounts.filter(({ name }) => differing.has(name));
      if (!checkOnly) for (const { name } of found) differing.delete(name);
      return found.map(({ name }) => ({
        account: name,
        kind: "key_added",
        problem: "a key more",
        repaired: !checkOnly,
      }));
    };
    const services = { ...app.services, host: { ...app.host, reconcile } };
    const ids: readonly (number | null)[] = [user.id, other.id];
    const repairs = async () =>
      (await app.auditRows("reconcile.repair"))
        .filter(({ subjectId, result }) => ids.includes(subjectId) && result === "success")
        .map(({ subjectId }) => subjectId);
    await app.alter(`create function unavailable() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger unavailable before insert on audit for each row execute function unavailable()`);
    await reconcileHost(services, app.config.dataDir, "repair");
    await app.alter("drop trigger unavailable on audit");
    expect(await repairs()).toEqual([]);
    // One of the two differs again: that is repaired, and not recorded twice.
    differing.add("ext_drift-e");
    await reconcileHost(services, app.config.dataDir, "check");
    expect(await repairs()).toEqual([]);
    await Promise.all([1, 2].map(() => reconcileHost(services, app.config.dataDir, "repair")));
    expect((await repairs()).sort()).toEqual([...ids].sort());
    await reconcileHost(services, app.config.dataDir, "repair");
    expect(await repairs()).toHaveLength(2);
  });

  test("reports no difference that is gone once the account is compared again under its row lock", async () => {
    let comparisons = 0;
    const drift = {
      account: "ext_drift-a",
      kind: "key_file",
      problem: "is just being written",
      repaired: false,
    } as const;
    const reconcile = async () => (++comparisons === 1 ? [drift] : []);
    const services = { ...app.services, host: { ...app.host, reconcile } };
    expect(await reconcileHost(services, app.config.dataDir, "check")).toEqual([]);
    expect(comparisons).toBe(2);
  });

  testSlow("reports no access that is just being taken away, and all that was cut short", async () => {
    const { id } = await app.user("drift-c");
    const admin = await app.admin();
    const shut = app.host.shutAccount;
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    app.host.shutAccount = async (ref) => {
      await held;
      return await shut(ref);
    };
    const check = () => reconcileHost(app.services, app.config.dataDir, "check");
    const disabling = admin.call("POST", `/users/${id}/disable`);
    while ((await app.db.select().from(closings)).length === 0) await Bun.sleep(2);
    expect(await check()).toEqual([]);
    goOn();
    expect((await disabling).status).toBe(200);
    app.host.shutAccount = shut;
    const note = { userId: id, kind: "shut", action: "user.disable", actorType: "cli", actor: "operator" } as const;
    await app.db.insert(closings).values({ ...note, begunAt: app.clock.now(), dueAt: app.clock.now() });
    expect(await check()).toMatchObject([{ account: "ext_drift-c", problem: expect.stringContaining("cut short") }]);
    // While this host is taken from a user the row is free for a moment, and the note is there.
    const comparing = check();
    await Bun.sleep(200);
    await app.db.delete(closings);
    expect(await comparing).toEqual([]);
  });
});
