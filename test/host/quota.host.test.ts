import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Account, Host } from "../../src/protocol/host.ts";
import { base, directHost, NAME, prepareHost, sshd, stored } from "../support/direct-host.ts";
import { HANG } from "../support/hang.ts";
import { describeOnHost } from "../support/host-account.ts";
import type { RemoteHost } from "../support/host-client.ts";
import { kernelHasQuota, mountWithQuota, type QuotaMount } from "../support/quota.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";
import * as sudo from "../support/sudo-lab.ts";

type Changes = Pick<Host, "createAccount" | "writeKeys" | "openAccount" | "shutAccount" | "takeKey" | "removeAccount">;

/** One mode: its host, and an account on it that uses up its quota once it exists. */
interface Mode {
  readonly host: Changes;
  readonly account: Account;
  readonly home: string;
  readonly server: TestSshd;
  readonly quota: QuotaMount;
}

let keys = 20;

/** A used-up quota refuses changes and restores no key. `keeps`: whether a refused change leaves the file as it was. */
function quotaTests(keeps: boolean, mode: () => Promise<Mode>): void {
  const prepared = async () => {
    const { host, account, home, server, quota } = await mode();
    const [first, second, third] = [server.makeKey(++keys), server.makeKey(++keys), server.makeKey(++keys)];
    const open = { ...account, keys: [first.key, second.key] };
    await host.createAccount(account);
    await host.writeKeys(open);
    const login = ({ path }: { readonly path: string }) => server.login(account.name, path);
    expect([login(first), login(second)]).toEqual([true, true]);
    quota.fill(join(home, "filler"), account.uid);
    const file = join(home, ".ssh/authorized_keys");
    return { host, open, file, home, login, quota, first, second, third };
  };
  const timed = async <T>(call: Promise<T>): Promise<T> => {
    const begin = performance.now();
    const answer = await call;
    expect(performance.now() - begin).toBeLessThan(HANG);
    return answer;
  };
  const within = async (call: Promise<unknown>): Promise<string> => {
    const begin = performance.now();
    const outcome = await call.then(
      () => "done",
      (error: Error & { readonly code?: string }) => String(error.code),
    );
    expect(performance.now() - begin).toBeLessThan(HANG);
    return outcome;
  };

  test("writeKeys() refuses another key, and works again once there is room", async () => {
    const { host, open, file, login, quota, first, second, third } = await prepared();
    const before = readFileSync(file, "utf8");
    const all = { ...open, keys: [...open.keys, third.key] };
    expect(await within(host.writeKeys(all))).toBe("internal");
    expect(login(third)).toBe(false);
    // In sudo mode the file is removed before the new one is written.
    expect(existsSync(file) ? readFileSync(file, "utf8") : "").toBe(keeps ? before : "");
    expect([login(first), login(second)]).toEqual([keeps, keeps]);
    quota.lift();
    expect(await within(host.writeKeys(all))).toBe("done");
    expect([first, second, third].map(login)).toEqual([true, true, true]);
  });

  test("takeKey() takes the key away even so, says what is missing, and shutAccount() shuts the account", async () => {
    const { host, open, login, quota, first, second } = await prepared();
    const left = { ...open, keys: [second.key] };
    expect(await timed(host.takeKey(left, first.key.fingerprint))).toEqual({
      rewritten: true,
      owed: [expect.stringContaining("Cannot write")],
    });
    expect([login(first), login(second)]).toEqual([false, false]);
    expect(await timed(host.shutAccount(left))).toEqual({ refused: true, owed: [] });
    expect([login(first), login(second)]).toEqual([false, false]);
    quota.lift();
    expect(await within(host.openAccount(left))).toBe("done");
    expect([login(first), login(second)]).toEqual([false, true]);
  });

  test("removeAccount() removes the account, or leaves it shut if it cannot move the home until there is room", async () => {
    const { host, open, home, login, quota, first, second } = await prepared();
    const closing = await timed(host.removeAccount(open));
    // In sudo mode only the trash may be deleted.
    expect(closing).toEqual({ refused: true, owed: keeps ? [] : [expect.stringMatching(/^(?:mkdir|mv) refused/)] });
    expect([login(first), login(second)]).toEqual([false, false]);
    quota.lift();
    expect(await timed(host.removeAccount(open))).toEqual({ refused: true, owed: [] });
    expect(existsSync(home)).toBe(false);
  });
}

describeOnHost(
  "a home whose quota is used up",
  () => {
    describe("in direct mode", () => {
      prepareHost();
      let quota: QuotaMount | undefined;
      afterEach(() => quota?.unmount());
      quotaTests(true, async () => {
        const homeBase = join(base, "quota");
        mkdirSync(homeBase, { recursive: true });
        quota = mountWithQuota(homeBase);
        const host = await directHost({ homeBase });
        return { host, account: stored(), home: join(homeBase, NAME), server: sshd, quota };
      });
    });

    describe("in sudo mode", () => {
      let lab: sudo.SudoLab;
      let host: RemoteHost;
      let directory: string;
      let server: TestSshd;
      let quota: QuotaMount | undefined;
      beforeAll(async () => {
        lab = sudo.createSudoLab();
        host = lab.startHost();
        // Not in the base, over which the quota is mounted.
        directory = mkdtempSync("/var/lib/uam-test-quota-");
        server = await startSshd(directory);
      });
      afterEach(() => {
        quota?.unmount();
        lab.cleanUp();
      });
      afterAll(() => {
        host?.stop();
        server?.stop();
        lab?.remove();
        rmSync(directory, { recursive: true });
      });
      quotaTests(false, async () => {
        quota = mountWithQuota(lab.base);
        return { host, account: sudo.stored(), home: lab.home(), server, quota };
      });
    });
  },
  kernelHasQuota,
);
