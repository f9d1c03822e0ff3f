import { afterAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { alone } from "../../../src/build/postgres/alone.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-alone-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));
const MODULE = join(import.meta.dirname, "../../../src/build/postgres/alone.ts");

describe("alone()", () => {
  test("lets nobody work at the same time, and returns what the work does", async () => {
    const file = join(top, "turns");
    let working = 0;
    let most = 0;
    const all = [1, 2, 3].map((each) =>
      alone(file, async () => {
        most = Math.max(most, ++working);
        await sleep(20);
        working--;
        return each;
      }),
    );
    expect(await Promise.all(all)).toEqual([1, 2, 3]);
    expect(most).toBe(1);
  });

  test("goes on after work that failed, and after a process that was killed", async () => {
    const file = join(top, "killed");
    await expect(alone(file, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    const code = `import { alone } from ${JSON.stringify(MODULE)};
      await alone(${JSON.stringify(file)}, async () => { console.log("has it"); await new Promise(() => setInterval(() => {}, 1e6)); });`;
    const other = spawn(process.execPath, ["--eval", code], { stdio: ["ignore", "pipe", "inherit"] });
    let isTurn = false;
    try {
      await once(other.stdout, "data");
      const turn = alone(file, async () => {
        isTurn = true;
      });
      await sleep(50);
      expect(isTurn).toBe(false);
      other.kill("SIGKILL");
      await turn;
    } finally {
      other.kill("SIGKILL");
    }
    expect(isTurn).toBe(true);
  });

  test("says so where the file cannot be", async () => {
    const refused = alone(join(top, "missing/lock"), () => Promise.resolve());
    await expect(refused).rejects.toThrow("missing/lock cannot be locked.");
  });
});
