import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

/** By default, with the time of a command that is to end by itself. */
async function timed(path: string, limit?: number) {
  const began = performance.now();
  const result = await runCommand([path], limit);
  return { result, seconds: (performance.now() - began) / 1000 };
}

/** The same of one that does not end by itself. Given up before it has made that file it says nothing: then it is given more time. */
async function givenUp(path: string, begun: string) {
  for (let limit = 300; ; limit *= 2) {
    const found = await timed(path, limit);
    if (existsSync(begun)) return found;
  }
}

/** For a script: goes on in the background, with its output open, until the tests are over. */
const leave = () => `while [ -d ${directory} ]; do sleep 0.2; done &`;

describe("runCommand()", () => {
  test("returns what the command said, whole, and its exit code", async () => {
    const path = script("says", "head -c 300000 /dev/zero | tr '\\\\0' x; echo no >&2; exit 7");
    const { exitCode, stdout, stderr } = await runCommand([path]);
    expect([exitCode, stdout.length, stderr]).toEqual([7, 300_000, "no\n"]);
  });

  test("does not wait for a process that the command left behind with its output open", async () => {
    const path = script("leaves", `${leave()} echo done`);
    const { result, seconds } = await timed(path);
    expect(result).toEqual({ exitCode: 0, stdout: "done\n", stderr: "" });
    expect(seconds).toBeLessThan(HANG / 1000);
  });

  test("gives up a command that hangs, also if what it waits for keeps its output open", async () => {
    const begun = join(directory, "left");
    const path = script("hangs", `${leave()} : > ${begun}; wait`);
    const { result, seconds } = await givenUp(path, begun);
    expect(result.exitCode).toBe(-1);
    expect(seconds).toBeLessThan(HANG / 1000);
  });

  testSlow("kills a command that ignores SIGTERM", async () => {
    const begun = join(directory, "deaf");
    const path = script("ignores", `trap '' TERM; : > ${begun}; while :; do sleep 0.1; done`);
    const { result, seconds } = await givenUp(path, begun);
    expect(result.exitCode).toBe(-1);
    expect(seconds).toBeLessThan(HANG / 1000);
  });

  test("reports a command that was killed as failed", async () => {
    expect((await runCommand([script("killed", "kill -KILL $$")])).exitCode).toBe(-1);
  });
});
