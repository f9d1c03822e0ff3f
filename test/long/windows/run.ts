/**
 * `bun run test:long windows [--accounts N] [--rounds N] [--only own|agent] [--suite NAME]`, as root: accounts whose window ends at the same second, on a real sshd, while the
 * service is killed or stopped, its database stands still, or the agent of a further host is killed, stopped, cut off or has another time. Prints how many were shut at the second,
 * how many were open within 2 s of the start, and how many sessions were left 5 s after the end. Exit code 1 if anybody was let in outside, or an account did not open.
 * A window lasts 12 s and 0.6 s for each account, so that all can be entered: with 500 accounts a round of both hosts takes an hour and a half.
 * `--suite` boots that Debian, and does it there.
 * A run that is ended by SIGTERM or SIGINT removes what it made; what one leaves that is killed, the next removes.
 */

import { spawnSync } from "node:child_process";
import process from "node:process";
import { parseArgs } from "node:util";
import { describeMachine, percentile } from "../../bench/bench.ts";
import { SUITES } from "../../debian/tree.ts";
import { openAgentHost } from "./agent.ts";
import { runBooted } from "./booted.ts";
import { follow, SESSIONS_END, type Seen } from "./judge.ts";
import { openOwnHost } from "./own.ts";
import type { Place } from "./place.ts";
import { forgetRuns } from "./traces.ts";

const OPEN_WITHIN = 2000;
/** From asking for access to a shell. */
const SHELL_WITHIN = 3000;

const { values } = parseArgs({
  options: {
    accounts: { type: "string", default: "25" },
    rounds: { type: "string", default: "2" },
    only: { type: "string", default: "" },
    suite: { type: "string" },
    // What that process and former runs have left is removed, and nothing else is done.
    clean: { type: "string" },
  },
});
const PLACES = { own: openOwnHost, agent: openAgentHost };
const all: Seen[] = [];
const ending: Seen[] = [];

if (values.clean !== undefined) {
  await forgetRuns(Number(values.clean));
  process.exit();
}
if (values.suite !== undefined) {
  const suite = SUITES.find((known) => known === values.suite);
  if (suite === undefined) throw new Error(`There is no ${JSON.stringify(values.suite)}: ${SUITES.join(", ")}`);
  const { accounts, rounds, only } = values;
  const options = ["--accounts", accounts, "--rounds", rounds, ...(only === "" ? [] : ["--only", only])];
  process.exit((await runBooted(suite, options)) ? 0 : 1);
}
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  // Nothing of this run goes on meanwhile.
  process.once(signal, () => {
    console.log(`${signal}: what was made is removed`);
    spawnSync(process.execPath, [import.meta.path, "--clean", String(process.pid)], { stdio: "inherit" });
    process.exit(code);
  });
}
if (process.geteuid?.() !== 0) console.log("left out: it needs root, for real accounts and a real sshd");
else {
  console.log(describeMachine());
  await forgetRuns();
  for (const [name, open] of Object.entries(PLACES)) {
    if (values.only !== "" && values.only !== name) continue;
    try {
      await tryOut(await open(Number(values.accounts)));
    } finally {
      await forgetRuns(process.pid);
    }
  }
  console.log(`\nall: ${summary(all)}\n     ${sessions(ending)}`);
  process.exitCode = all.length > 0 && all.every(isShut) && all.every(({ wasIn }) => wasIn) ? 0 : 1;
}
process.exit();

async function tryOut(place: Place): Promise<void> {
  try {
    const shells = (await place.shells?.()) ?? [];
    if (shells.length > 0) console.log(`${place.about}, on request by rule self: ${inTime(shells)}`);
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const [way, what] of Object.entries(place.ways)) {
        const seen = await follow(place, what);
        all.push(...seen);
        if (what.endsSessions) ending.push(...seen);
        console.log(`${place.about}, ${way}: ${summary(seen)}${what.endsSessions ? `; ${sessions(seen)}` : ""}`);
      }
    }
  } finally {
    await place.close();
  }
}

function isShut({ wrong, refused }: Seen): boolean {
  return wrong.length === 0 && refused > 0;
}

function summary(seen: readonly Seen[]): string {
  const opened = seen.flatMap(({ opened }) => opened ?? []);
  const within = opened.filter((time) => time <= OPEN_WITHIN).length;
  const wrong = seen.flatMap(({ wrong }) => wrong);
  const latest = opened.length === 0 ? "none" : `${(Math.max(...opened) / 1000).toFixed(1)} s`;
  return [
    `${seen.filter(isShut).length} of ${seen.length} shut at the second`,
    `${seen.reduce((sum, { refused }) => sum + refused, 0)} logins refused after the end`,
    `${seen.filter(({ wasIn }) => wasIn).length} let in before`,
    `${within} open within ${OPEN_WITHIN / 1000} s of the start, the last after ${latest}`,
    ...(wrong.length === 0 ? [] : [`LET IN: ${wrong.join(", ")}`]),
  ].join(", ");
}

function inTime(times: readonly number[]): string {
  const within = times.filter((time) => time <= SHELL_WITHIN).length;
  const [half, most] = [percentile(times, 0.5), Math.max(...times)].map((time) => (time / 1000).toFixed(2));
  return `${within} of ${times.length} from the request to a shell within ${SHELL_WITHIN / 1000} s: half within ${half} s, the longest ${most} s`;
}

function sessions(seen: readonly Seen[]): string {
  const had = seen.filter(({ wasIn }) => wasIn);
  return `${had.filter(({ isAlive }) => isAlive).length} of ${had.length} sessions alive ${SESSIONS_END / 1000} s after the end`;
}
