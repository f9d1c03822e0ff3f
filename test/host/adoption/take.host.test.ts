/** Taking an account over, cut short after each of its changes, and given back. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chownSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lookAtAccount } from "../../../src/host/adoption/look.ts";
import { readAdoptions } from "../../../src/host/adoption/record.ts";
import { giveAccountBack, type Means, takeAccount } from "../../../src/host/adoption/take.ts";
import { directExecutor } from "../../../src/host/create-host.ts";
import type { Executor } from "../../../src/host/executor.ts";
import type { HostSettings } from "../../../src/host/settings.ts";
import { bunRuntime } from "../../../src/runtime/bun.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { describeOnHost, testSettings } from "../../support/host-account.ts";

const NAME = "uamttaken";
const WANTED = { name: `ext_${NAME}` };
const UID = 45_831;
const GROUP = "uam-ext-ttaken";
const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFBr/dqzta2r51dmoGYcCCUUz9/JwQPGUaIvDOjL9QKs laptop\n";

function run(command: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  return { status, stdout, stderr };
}

describeOnHost("takeAccount() and giveAccountBack()", () => {
  setDefaultTimeout(180_000);
  let base: string;
  let settings: HostSettings;
  let means: Means;
  beforeAll(() => {
    base = mkdtempSync("/var/lib/uam-ttaken-");
    run("/bin/chmod", "755", base);
    settings = testSettings({ mode: "direct", homeBase: base, markerGroup: GROUP });
    const executor = directExecutor(settings, silentLog, bunRuntime);
    means = { settings, executor, directory: join(base, "adopted") };
  });
  beforeEach(() => {
    remove();
    const args = ["-m", "-U", "-u", String(UID), "-d", join(base, NAME), "-p", "$6$uamt$x", NAME];
    expect(run("/usr/sbin/useradd", ...args).stderr).toBe("");
    run("/usr/sbin/usermod", "-a", "-G", "games", NAME);
    const directory = join(base, NAME, ".ssh");
    mkdirSync(directory, { mode: 0o700 });
    chownSync(directory, UID, UID);
    for (const file of ["authorized_keys", "authorized_keys2"]) {
      writeFileSync(join(directory, file), KEY, { mode: 0o600 });
      chownSync(join(directory, file), UID, UID);
    }
  });
  afterEach(remove);
  afterAll(() => {
    run("/usr/sbin/groupdel", GROUP);
    rmSync(base, { recursive: true, force: true });
  });

  function remove(): void {
    for (const name of [NAME, WANTED.name]) {
      run("/usr/sbin/userdel", "-f", name);
      run("/usr/sbin/groupdel", name);
      rmSync(join(base, name), { recursive: true, force: true });
    }
    rmSync(join(base, "adopted"), { recursive: true, force: true });
  }

  const linesOf = (file: string) =>
    readFileSync(`/etc/${file}`, "utf8")
      .split("\n")
      .filter((line) => line.includes(NAME))
      .sort();

  function state() {
    const { uid, gid, mode } = lstatSync(join(base, NAME));
    const files = ["authorized_keys", "authorized_keys2"].map((file) =>
      readFileSync(join(base, NAME, ".ssh", file), "utf8"),
    );
    return { tables: ["passwd", "shadow", "group", "subuid", "subgid"].map(linesOf), uid, gid, mode, files };
  }

  /** Stops for good before the change with that number. */
  function cutAt(executor: Executor, count: number): Executor {
    let left = count;
    return {
      ...executor,
      apply: async (change) => {
        if (left-- <= 0) throw new Error("cut short");
        await executor.apply(change);
      },
    };
  }

  async function look() {
    const found = await lookAtAccount(settings, NAME, WANTED);
    if (found === undefined) throw new Error("no account");
    expect(found.obstacles).toEqual([]);
    return found;
  }

  test("wherever taking is cut short, giving back restores all of it, and nobody logs in meanwhile", async () => {
    const before = state();
    const found = await look();
    let cuts = 0;
    for (let isWhole = false; !isWhole; cuts++) {
      const cut = { ...means, executor: cutAt(means.executor, cuts) };
      isWhole = await takeAccount(cut, found, WANTED).then(
        () => true,
        (error) => {
          expect(error.message).toBe("cut short");
          return false;
        },
      );
      const expires = linesOf("shadow").map((line) => line.split(":")[7]);
      expect([cuts, expires]).toEqual([cuts, cuts === 0 ? [""] : ["1"]]);
      expect(readAdoptions(means.directory)).toMatchObject([{ uid: UID, former: NAME, state: "taking" }]);
      await giveAccountBack(means, UID);
      expect([cuts, state()]).toEqual([cuts, before]);
      expect(readAdoptions(means.directory)).toEqual([]);
    }
    expect(cuts).toBeGreaterThan(8);
  });

  test("wherever giving back is cut short, it is finished by the next, and nobody logs in meanwhile", async () => {
    const before = state();
    for (let cuts = 0; ; cuts++) {
      await takeAccount(means, await look(), WANTED);
      const isWhole = await giveAccountBack({ ...means, executor: cutAt(means.executor, cuts) }, UID).then(
        () => true,
        () => false,
      );
      if (!isWhole) {
        expect(linesOf("shadow").map((line) => line.split(":")[7])).toEqual(["1"]);
        await giveAccountBack(means, UID);
      }
      expect([cuts, state()]).toEqual([cuts, before]);
      if (isWhole) break;
    }
  });

  test("an account that changed since the look is not touched", async () => {
    const found = await look();
    run("/usr/sbin/usermod", "-u", String(UID + 1), NAME);
    await expect(takeAccount(means, found, WANTED)).rejects.toThrow("has changed meanwhile");
    expect(readAdoptions(means.directory)).toEqual([]);
  });

  test("a key file that became a link since the look is neither followed nor taken for saved", async () => {
    const found = await look();
    const path = join(base, NAME, ".ssh/authorized_keys");
    rmSync(path);
    run("/bin/ln", "-s", "/etc/shadow", path);
    await expect(takeAccount(means, found, WANTED)).rejects.toThrow(`${path} is a link`);
    expect(readAdoptions(means.directory)).toEqual([]);
  });
});
