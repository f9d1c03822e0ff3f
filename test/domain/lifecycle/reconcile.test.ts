import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import type { Account, Drift } from "../../../src/protocol/host.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

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
      return calls.length === 1
        ? [{ account: "ext_drift-a", kind: "key_file", problem: "differs", repaired: false }]
        : [];
    };
    const services = { ...app.services, host: { ...app.host, reconcile } };
    expect(await reconcileHost(services, app.config.dataDir, "check")).toHaveLength(1);
    expect(await reconcileHost(services, app.config.dataDir, "repair")).toEqual([]);
    expect(calls).toEqual([true, true]);
  });
});
