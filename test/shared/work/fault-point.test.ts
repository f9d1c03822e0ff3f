/** Fault points do what a test wants of them, each name stands for a place, and the release has none. */

import { afterAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FAULT_POINTS, FAULT_VARIABLE, type Fault } from "../../../src/shared/work/fault-point.ts";
import { codeOf, readSource } from "../../structure/source.ts";
import { programs } from "../../support/programs.ts";
import { BINARY } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const directory = mkdtempSync(join(tmpdir(), "uam-fault-"));
const file = join(directory, "fault");
const [first, second] = FAULT_POINTS;
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Passes the first point twice and the second once, and says so after each. */
function pass(fault: Fault | undefined, program: readonly string[] = [process.execPath]) {
  rmSync(file, { force: true });
  if (fault !== undefined) writeFileSync(file, JSON.stringify(fault));
  const script = join(directory, "script.ts");
  const module = join(import.meta.dir, "../../../src/shared/work/fault-point.ts");
  writeFileSync(
    script,
    `import { faultPoint } from ${JSON.stringify(module)};
    for (const name of ${JSON.stringify([first, first, second])}) { faultPoint(name); console.log(name); }`,
  );
  const [command = "", ...args] = program;
  const child = spawn(command, [...args, script], { env: { ...process.env, [FAULT_VARIABLE]: file } });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const ended = new Promise<string>((resolve) => child.on("close", (code, signal) => resolve(signal ?? String(code))));
  return { child, said: () => said.split("\n").slice(0, -1), ended };
}

describe.each([
  ["bun", [process.execPath]],
  ["deno", programs().deno.slice(0, -1)],
])("faultPoint() on %s", (_name, program) => {
  test("does nothing unless a test wants it", async () => {
    const { said, ended } = pass(undefined, program);
    expect(await ended).toBe("0");
    expect(said()).toEqual([first, first, second]);
  });

  test("ends the process at the pass that was wanted, once", async () => {
    const { said, ended } = pass({ point: first, nth: 2, action: "kill" }, program);
    expect(await ended).toBe("SIGKILL");
    expect(said()).toEqual([first]);
    expect(existsSync(file)).toBe(false);
  });

  test("stops it until it is continued", async () => {
    const { child, said, ended } = pass({ point: second, nth: 1, action: "stop" }, program);
    const state = () => readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.[0];
    await until(() => state() === "T");
    await until(() => said().length === 2);
    expect(said()).toEqual([first, first]);
    child.kill("SIGCONT");
    expect(await ended).toBe("0");
    expect(said()).toEqual([first, first, second]);
  });

  test("traces", async () => {
    const into = join(directory, "trace");
    rmSync(into, { force: true });
    await pass({ action: "trace", into }, program).ended;
    expect(readFileSync(into, "utf8")).toBe(`${first}\n${first}\n${second}\n`);
  });
});

describe("FAULT_POINTS", () => {
  test("are the places in src, and no other", () => {
    const calls = [...readSource()]
      .filter(([path]) => path !== "shared/work/fault-point.ts" && !path.startsWith("build/"))
      .flatMap(([, text]) => [...codeOf(text).matchAll(/\bfaultPoint\("([^"]+)"\)/g)].map((match) => match[1] ?? ""));
    expect([...new Set(calls)].sort()).toEqual([...FAULT_POINTS].sort());
  });

  // Without a build there is none; CI builds it first.
  test.if(existsSync(BINARY) || process.env.UAM_TEST_HOST === "1")("are not in the binary, nor is the variable", () => {
    const binary = readFileSync(BINARY);
    expect(binary.includes("uam serve")).toBe(true);
    const names = [...FAULT_POINTS, FAULT_VARIABLE, "faultPoint", "fault-point"];
    // Strings are kept with one byte a letter, or with two.
    const wide = (text: string) => Buffer.from(text, "utf16le");
    expect(names.filter((name) => binary.includes(name) || binary.includes(wide(name)))).toEqual([]);
  });
});
