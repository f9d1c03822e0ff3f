/**
 * The README's commands letter by letter, read out of it, on clean clones of HEAD: as an ordinary user whom this makes, and the quick
 * start as root too. The installation's are run in test/debian. Needs root, a machine that you can spare, and port 8080. Exit code 1 if anything fails.
 */

import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { shellBlocks } from "../support/documents.ts";
import { until } from "../support/until.ts";
import { makeOrdinary, makeRoot, type Reader } from "./reader.ts";

const ORIGIN = "http://127.0.0.1:8080";
/** Only a hang takes so long. */
const PATIENCE = 300_000;
/** Where data of a service that is installed would be. */
const INSTALLED = "/var/lib/uam";
/** Where the README says root's PostgreSQL is unpacked. */
const CACHE = "/var/cache/uam";

const [quick = "", curl = "", , work = ""] = shellBlocks("README.md");
const start = commandOf(quick, /run start/);
const before = installed();
const hadCache = existsSync(CACHE);

for (const make of [() => makeOrdinary("uam-reader"), makeRoot]) {
  const reader = make();
  try {
    await quickStart(reader);
    if (reader.name !== "root") await everyOther(reader, [...lines(quick), ...lines(work)]);
    check(`${reader.name}: the checkout is as it was`, await isClean(reader));
  } finally {
    reader.remove();
    if (!hadCache) rmSync(CACHE, { recursive: true, force: true });
  }
}
check(`${INSTALLED} is as it was`, installed() === before);
console.log("README.md: each command does what it says.");

/** The first command, what it says, and the block with curl while it runs. */
async function quickStart(reader: Reader): Promise<void> {
  say(reader, start);
  const service = reader.start(start);
  try {
    const isOver = () => service.process.exitCode !== null;
    await until(() => isOver() || service.said().includes("in a browser"), PATIENCE);
    check(`"${start}" goes on`, !isOver());
    for (const path of ["/", "/api/v1/healthz"]) check(`${path} answers`, (await fetch(`${ORIGIN}${path}`)).ok);
    const next = / {2}(\S.* admin add .*)/.exec(service.said())?.[1];
    check(`"${start}" says what to do next`, next !== undefined);
    await succeeds(reader, curl);
    // The name that it has is taken by now: by the README's own command, which therefore found the same data.
    const { status } = await reader.run(`cd /; ${next?.replace("root-admin", "second-admin")}`);
    check("the command that it said works as printed, elsewhere", status === 0);
    const { stdout } = await reader.run(`cd /; ${next?.replace(/ admin add .*/, " admin list")}`);
    check("both found the same data", /root-admin/.test(stdout) && /second-admin/.test(stdout));
    check("the data are in the checkout", existsSync(join(reader.checkout, ".uam")));
    check("the checkout holds no session", await isClean(reader));
  } finally {
    await service.interrupt();
  }
}

async function everyOther(reader: Reader, commands: readonly string[]): Promise<void> {
  const [, ...others] = new Set([start, ...commands].map((command) => command.replace(/\s+#.*/, "")));
  for (const command of others) await succeeds(reader, command);
}

async function succeeds(reader: Reader, script: string): Promise<void> {
  say(reader, script.trim());
  const { status } = await reader.run(script);
  check(`it succeeds as ${reader.name}`, status === 0);
}

async function isClean(reader: Reader): Promise<boolean> {
  const { status, stdout } = await reader.run("git status --porcelain --ignored");
  const left = lines(stdout).filter((line) => !/^!! (\.uam|node_modules|dist)\/$/.test(line));
  for (const line of left) console.error(`left in the checkout: ${line}`);
  return status === 0 && left.length === 0;
}

function installed(): string {
  return existsSync(INSTALLED) ? readdirSync(INSTALLED).sort().join(" ") : "nothing";
}

function commandOf(block: string, pattern: RegExp): string {
  const command = lines(block).find((line) => pattern.test(line));
  if (command === undefined) throw new Error(`README.md's quick start has no command with ${pattern}`);
  return command;
}

function lines(block: string): readonly string[] {
  return block.split("\n").filter((line) => line.trim() !== "");
}

function say(reader: Reader, command: string): void {
  console.log(`\n-- ${reader.name}, after ${(performance.now() / 1000).toFixed(0)} s\n${command}`);
}

function check(what: string, holds: boolean): void {
  if (holds) return;
  console.error(`README.md: not so: ${what}`);
  process.exitCode = 1;
  throw new Error(what);
}
