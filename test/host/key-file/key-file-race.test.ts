import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeKeyFile } from "../../../src/host/key-file/key-file.ts";
import { UamError } from "../../../src/shared/errors.ts";
import { SHORT_HANG } from "../../support/hang.ts";
import { ACCOUNT_UID, createLab, type Lab, own } from "../../support/key-file-lab.ts";
import { isThorough } from "../../support/thorough.ts";
import { until } from "../../support/until.ts";

const RACE = isThorough ? 3000 : 500;
const RACER = join(import.meta.dir, "../../support/home-racer.ts");

let lab: Lab;
let racer: ChildProcess | undefined;
beforeEach(() => {
  lab = createLab();
});
afterEach(async () => {
  await stopRacer();
  lab.remove();
});

function startRacer(mode: string, directory: string): void {
  racer = spawn(process.execPath, [RACER, mode, directory, lab.victim], { stdio: "ignore" });
}

async function stopRacer(): Promise<void> {
  const child = racer;
  racer = undefined;
  if (child === undefined || child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.on("close", resolve));
  child.kill("SIGKILL");
  await ended;
}

/** Writes as fast as it goes while the racer runs; every call returns in time, and holds or is refused. */
function writeWhileRacing(): { readonly held: number; readonly refused: number } {
  let held = 0;
  let refused = 0;
  const end = performance.now() + RACE;
  for (let round = 0; performance.now() < end; round++) {
    const started = performance.now();
    try {
      writeKeyFile(lab.target, `ssh-ed25519 AAAA${round} uam:1\n`, []);
      held++;
    } catch (error) {
      expect(error).toBeInstanceOf(UamError);
      refused++;
    }
    expect(performance.now() - started).toBeLessThan(SHORT_HANG);
  }
  return { held, refused };
}

describe("races", () => {
  test.each(["exchange-directory", "exchange-file", "replace-temporaries"])(
    "writeKeyFile() touches nothing outside while its owner does %s",
    async (mode) => {
      writeKeyFile(lab.target, "first\n", []);
      // The account's own, so that the check of the owner alone would not save it.
      own(lab.victim);
      const before = lab.outside();
      const directory = mode === "exchange-directory" ? lab.home : lab.ssh;
      startRacer(mode, directory);
      await until(() => exists(join(directory, mode === "replace-temporaries" ? "begun" : "decoy")));
      const { held, refused } = writeWhileRacing();
      expect(held + refused).toBeGreaterThan(0);
      expect(lab.outside()).toBe(before);
      await stopRacer();
      writeKeyFile(lab.target, "last\n", []);
      expect(readFileSync(lab.keys, "utf8")).toBe("last\n");
      expect(lstatSync(lab.keys).uid).toBe(ACCOUNT_UID);
      expect(lab.outside()).toBe(before);
    },
    180_000,
  );

  test("writeKeyFile() does not wait for a lease that the owner holds on the file", async () => {
    writeKeyFile(lab.target, "old\n", []);
    startRacer("lease", lab.ssh);
    const leased = join(lab.ssh, "leased");
    // It is there before anything is in it.
    await until(() => existsSync(leased) && readFileSync(leased, "utf8") !== "");
    expect(readFileSync(leased, "utf8")).toBe("0");
    const started = performance.now();
    writeKeyFile(lab.target, "new\n", []);
    expect(performance.now() - started).toBeLessThan(SHORT_HANG);
    await stopRacer();
    expect(readFileSync(lab.keys, "utf8")).toBe("new\n");
  });
});

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
