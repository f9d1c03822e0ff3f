/** System calls as each runtime makes them, on processes of uids that nobody has. */

import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SWEEP_UID, SWEEP_UIDS } from "../../src/shared/system/kernel.ts";
import { SERVER_UIDS } from "../../src/store/postgres/postgres-owner.ts";
import { describeOnHost } from "../support/host-account.ts";
import { startSleeper } from "../support/sleeper.ts";

const root = join(import.meta.dir, "../..");
const UID = 58_690;
const main = join(root, "src/main.ts");
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  bun: [process.execPath, main],
  deno: [join(root, "node_modules/.bin/deno"), "run", "--allow-all", "--no-prompt", main],
  ...(existsSync(join(root, "dist/uam")) ? { binary: [join(root, "dist/uam")] } : {}),
};

describe("the sweep's uid", () => {
  test("is not one that a database server may run as", () => {
    expect(SWEEP_UID > SERVER_UIDS.last || SWEEP_UID < SERVER_UIDS.first).toBe(true);
  });
});

describeOnHost("uam sweep", () => {
  test.each(Object.entries(PROGRAMS))("kills the processes of the uid, and nothing else, on %s", async (_, program) => {
    const [own, other, roots] = [await startSleeper(UID), await startSleeper(UID + 1), await startSleeper(0)];
    const ended = once(own, "exit");
    try {
      expect(await outcome([...program, "sweep", String(UID)])).toEqual({ code: 0, stderr: "" });
      await ended;
      expect([own.signalCode, other.signalCode, roots.signalCode]).toEqual(["SIGKILL", null, null]);
    } finally {
      for (const child of [other, roots]) child.kill("SIGKILL");
    }
  });

  test("of two processes at the same time kills neither, as of a command beside the service", async () => {
    const module = join(root, "src/runtime/bun-kernel.ts");
    const sweeping = (uid: number) =>
      outcome([
        process.execPath,
        "-e",
        `const kernel = require(${JSON.stringify(module)}).openKernel();
        for (const end = performance.now() + 3000; performance.now() < end; ) kernel.killAllOf(${uid});`,
      ]);
    expect(await Promise.all([sweeping(UID), sweeping(UID + 1)])).toEqual([
      { code: 0, stderr: "" },
      { code: 0, stderr: "" },
    ]);
  });

  test.each(Object.entries(PROGRAMS))("refuses uids that are no account's on %s", async (_, program) => {
    for (const uid of ["0", "999", String(SWEEP_UID), String(SWEEP_UIDS.first + 1), "4294967295", "-1", "x"]) {
      expect((await outcome([...program, "sweep", uid])).code).not.toBe(0);
    }
  });
});

async function outcome(argv: readonly string[]): Promise<{ readonly code: number; readonly stderr: string }> {
  const child = Bun.spawn([...argv], {
    stdout: "ignore",
    stderr: "pipe",
    env: { PATH: "/usr/bin:/bin", HOME: "/root" },
  });
  return { stderr: await child.stderr.text(), code: await child.exited };
}
