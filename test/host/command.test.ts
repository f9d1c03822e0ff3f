import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../src/host/command.ts";
import { HANG } from "../support/hang.ts";
import { testSlow } from "../support/thorough.ts";

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "uam-command-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function script(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function timed(...argv: readonly string[]) {
  const began = performance.now();
  const result = await runCommand(argv, 300);
  return { result, seconds: (performance.now() - began) / 1000 };
}

/** Ends what a script left behind under the pid that it wrote. */
function endLeft(name: string): void {
  process.kill(Number(readFileSync(join(directory, name), "utf8")), "SIGKILL");
}

describe("runCommand()", () => {
  test("returns what the command said, whole, and its exit code", async () => {
    const path = script("says", "head -c 300000 /dev/zero | tr '\\\\0' x; echo no >&2; exit 7");
    const { exitCode, stdout, stderr } = await runCommand([path]);
    expect([exitCode, stdout.length, stderr]).toEqual([7, 300_000, "no\n"]);
  });

  test("does not wait for a process that the command left behind with its output open", async () => {
    const path = script("leaves", `sleep 600 & echo $! > ${directory}/left; echo done`);
    const { result, seconds } = await timed(path);
    endLeft("left");
    expect(result).toEqual({ exitCode: 0, stdout: "done\n", stderr: "" });
    expect(seconds).toBeLessThan(HANG / 1000);
  });

  test("gives up a command that hangs, also if what it waits for keeps its output open", async () => {
    const path = script("hangs", `sleep 600 & echo $! > ${directory}/hung; wait`);
    const { result, seconds } = await timed(path);
    endLeft("hung");
    expect(result.exitCode).toBe(-1);
    expect(seconds).toBeLessThan(HANG / 1000);
  });

  testSlow("kills a command that ignores SIGTERM", async () => {
    const path = script("ignores", "trap '' TERM; while :; do sleep 0.1; done");
    const { result, seconds } = await timed(path);
    expect(result.exitCode).toBe(-1);
    expect(seconds).toBeLessThan(HANG / 1000);
  });

  test("reports a command that was killed as failed", async () => {
    expect((await runCommand([script("killed", "kill -KILL $$")])).exitCode).toBe(-1);
  });
});
