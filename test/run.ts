/**
 * `bun run test [FILE…]`: `bun test` in as many processes as UAM_TEST_PROCESSES says, or three. What failed is said once more at the end,
 * with its errors: thousands of lines lie between them and Bun's own list.
 *
 * Tests that make accounts run one file at a time on a machine, and mostly wait. Where there are many of them, as in CI, they run in two
 * lanes beside the others, with a process more for each.
 */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { whatFailedSaid } from "./support/failures.ts";
import { type Lane, makeLane } from "./support/lane.ts";

const PROJECT = join(import.meta.dir, "..");
const LANES = 2;
/** How a file's tests begin in what Bun says. */
const HEADING = /^test\/\S+:$/;
/** The longest of those that make accounts, the longest first: they are dealt to the lanes first. */
const LONGEST = ["closing-service", "agent", "crash", "proof", "sudo-hostile", "first-light", "user-adopt", "hours"];

const processes = process.env.UAM_TEST_PROCESSES || "3";
const asked = process.argv.slice(2);

const runs = asked.length === 0 && process.env.UAM_TEST_HOST === "1" ? inLanes() : [run([...parallel(), ...asked])];
const outcomes = await Promise.all(runs);
process.exitCode = Math.max(...outcomes.map(({ status }) => status));

const failures = outcomes.flatMap(({ said }) => whatFailedSaid(said));
if (process.exitCode !== 0 && failures.length > 0) console.log(`\n== what failed said\n\n${failures.join("\n\n")}`);

/** All of them, those that make accounts in lanes; all in one run where there can be none. */
function inLanes(): readonly Promise<Outcome>[] {
  const lanes = Array.from({ length: LANES }, () => makeLane(PROJECT)).filter((lane) => lane !== undefined);
  if (lanes.length < LANES) return [run(parallel())];
  const files = [...new Bun.Glob("test/**/*.test.ts").scanSync(PROJECT)].sort();
  const making = files.filter((file) => readFileSync(join(PROJECT, file), "utf8").includes("\ndescribeOnHost("));
  const others = files.filter((file) => !making.includes(file));
  const dealt = making.sort((one, other) => rank(one) - rank(other));
  const ofLane = (index: number) => dealt.filter((_, place) => place % LANES === index);
  return [
    run([...parallel(), ...others]),
    ...lanes.map((lane, index) => run(ofLane(index), lane).finally(() => lane.remove())),
  ];
}

function rank(file: string): number {
  const place = LONGEST.findIndex((name) => file.endsWith(`/${name}.host.test.ts`));
  return place < 0 ? LONGEST.length : place;
}

function parallel(): readonly string[] {
  return [`--parallel=${processes}`, "--no-isolate"];
}

interface Outcome {
  readonly status: number;
  readonly said: string;
}

/** Shows what it says: file by file, because others speak meanwhile. */
async function run(options: readonly string[], lane?: Lane): Promise<Outcome> {
  // One stream, so that an error stays before the name of its test.
  const command = ["sh", "-c", 'exec "$@" 2>&1', "sh", process.execPath, "test", "--timeout", "180000", ...options];
  const [program = "", ...args] = lane === undefined ? command : lane.argv(command);
  const tests = spawn(program, args, { cwd: PROJECT, stdio: ["ignore", "pipe", "inherit"] });
  const said: string[] = [];
  let ofFile: string[] = [];
  const show = () => process.stdout.write(ofFile.map((line) => `${line}\n`).join(""));
  let rest = "";
  tests.stdout.setEncoding("utf8").on("data", (data: string) => {
    const lines = `${rest}${data}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      said.push(line);
      if (HEADING.test(line)) {
        show();
        ofFile = [];
      }
      ofFile.push(line);
    }
  });
  const status = await new Promise<number>((resolve) => tests.on("close", (code) => resolve(code ?? 1)));
  ofFile.push(rest);
  show();
  return { status, said: [...said, rest].join("\n") };
}
