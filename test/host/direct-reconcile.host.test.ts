import { describe, expect, test } from "bun:test";
import { lstatSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  base,
  directHost,
  EXPIRY_DAY,
  keysPath,
  NAME,
  prepareHost,
  RUN,
  run,
  running,
  shadow,
  startAs,
  stored,
  UID,
} from "../support/direct-host.ts";
import { describeOnHost, testAccount } from "../support/host-account.ts";
import { until } from "../support/until.ts";

describeOnHost("reconciling in direct mode", () => {
  prepareHost();

  describe("reconcile", () => {
    test("reconcile() finds nothing and writes nothing if nothing differs", async () => {
      const host = await directHost();
      const account = stored({ keys: testAccount().keys });
      await host.createAccount(account);
      await host.writeKeys(account);
      const before = [keysPath(), join(base, NAME), "/etc/passwd", "/etc/shadow"].map(
        (path) => lstatSync(path).ctimeMs,
      );
      expect(await host.reconcile([account], false)).toEqual([]);
      expect(
        [keysPath(), join(base, NAME), "/etc/passwd", "/etc/shadow"].map((path) => lstatSync(path).ctimeMs),
      ).toEqual(before);
    });

    test("reconcile() reports with checkOnly, and repairs without", async () => {
      const host = await directHost();
      const account = stored({ keys: testAccount().keys });
      await host.createAccount(account);
      await host.writeKeys(account);
      const text = readFileSync(keysPath(), "utf8");
      writeFileSync(keysPath(), "ssh-ed25519 AAAAedited\n");
      run("usermod", "-L", "-e", "2030-01-01", "--", NAME);
      run("chage", "-M", "30", "--", NAME);
      const found = await host.reconcile([account], true);
      expect(found.map(({ problem }) => problem)).toEqual([
        "the account is locked or its expiry date differs",
        "password ageing is on",
        "authorized keys file differs from the stored keys: its content differs",
      ]);
      expect(found.map(({ kind }) => kind)).toEqual(["expiry_date", "expiry_date", "key_file"]);
      expect(found.every(({ repaired }) => !repaired)).toBe(true);
      expect(readFileSync(keysPath(), "utf8")).toBe("ssh-ed25519 AAAAedited\n");
      const repaired = await host.reconcile([account], false);
      expect(repaired.every((drift) => drift.repaired)).toBe(true);
      expect(readFileSync(keysPath(), "utf8")).toBe(text);
      expect(shadow()).toEqual({ password: "*", expires: EXPIRY_DAY, ageing: false });
      expect(await host.reconcile([account], true)).toEqual([]);
    });

    test("reconcile() shuts an account that should not be open, and ends its processes", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      await host.shutAccount(stored());
      startAs(UID, "/usr/bin/sleep", "300");
      await until(() => running() > 0);
      expect((await host.reconcile([stored({ open: false })], true)).length).toBeGreaterThan(0);
      await host.reconcile([stored({ open: false })], false);
      expect(running()).toBe(0);
      expect(await host.reconcile([stored({ open: false })], true)).toEqual([]);
    });

    test("reconcile() reports a missing account, does not create it, and continues with the others", async () => {
      const host = await directHost();
      await host.createAccount(stored());
      writeFileSync(keysPath(), "x\n");
      const missing = stored({ name: `ext_tgone${RUN}`, uid: UID + 1 });
      const drifts = await host.reconcile([missing, stored()], false);
      expect(drifts).toMatchObject([
        { account: missing.name, kind: "missing", problem: "the account is missing on the host", repaired: false },
        { account: NAME, kind: "key_file", repaired: true },
      ]);
      expect(await host.presence(missing)).toBe("missing");
    });
  });
});
