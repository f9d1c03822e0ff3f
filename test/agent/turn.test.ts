/** The turn between processes: what a process had is free once it has ended, however it ended. */

import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTurn } from "../../src/agent/turn.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";

const SOURCE = join(import.meta.dir, "../../src");
const HOLDER = `
  import { openTurn } from "${SOURCE}/agent/turn.ts";
  import { bunRuntime } from "${SOURCE}/runtime/bun.ts";
  const hold = () => { console.log("has it"); return new Promise((resolve) => setTimeout(resolve, 60_000)); };
  await openTurn(process.argv[1], bunRuntime.openKernel())(hold);
`;

test.if(process.platform === "linux")(
  "openTurn() waits for another process, and not for one that was killed",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "uam-turn-"));
    const turn = openTurn(directory, bunRuntime.openKernel());
    const holder = spawn(process.execPath, ["-e", HOLDER, directory], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => holder.stdout.once("data", resolve));
    await expect(turn(async () => {}, 100)).rejects.toThrow("too long");
    let isKilled = false;
    const mine = turn(async () => isKilled);
    await Bun.sleep(300);
    isKilled = true;
    holder.kill("SIGKILL");
    expect(await mine).toBe(true);
    // And one after the other within a process, also where one fails.
    const order: string[] = [];
    const first = turn(async () => {
      await Bun.sleep(50);
      order.push("first");
      throw new Error("it failed");
    });
    const second = turn(async () => order.push("second"));
    await expect(first).rejects.toThrow("it failed");
    await second;
    expect(order).toEqual(["first", "second"]);
    rmSync(directory, { recursive: true });
  },
);
