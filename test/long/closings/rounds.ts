/** Many rounds, in several places at a time: once a closing was answered, no key that it took away logs in. */

import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { mountsWithin, readMounts } from "../../../src/host/safe-open.ts";
import { mountFuseControl } from "../../support/holding-fuse.ts";
import { startSshd } from "../../support/sshd.ts";
import { type Ground, type Lane, type LaneKind, makeLane } from "./lane.ts";
import { type RoundReport, runRound } from "./round.ts";

export interface Run {
  readonly seed: number;
  readonly rounds: number;
  /** No round begins after so many milliseconds. */
  readonly within: number;
  /** With commands that hang for as long as the service waits. */
  readonly thorough: boolean;
  readonly tell: (line: string) => void;
}

export interface Outcome {
  readonly rounds: number;
  /** A line for each round that showed what must not be, or that could not be carried out. */
  readonly failures: readonly string[];
  readonly seconds: number;
}

/** The place of a round follows from its seed, so that one round is repeated by its seed alone. */
const LANES: readonly LaneKind[] = [
  { mode: "direct", homes: "tmpfs" },
  { mode: "direct", homes: "ext4" },
  { mode: "sudo", homes: "tmpfs" },
  { mode: "direct", homes: "tmpfs" },
  { mode: "sudo", homes: "ext4" },
  { mode: "direct", homes: "ext4" },
];

export async function runRounds(run: Run): Promise<Outcome> {
  const begin = performance.now();
  // Not below /tmp: the way to a home must be root's alone.
  const directory = mkdtempSync("/var/lib/uam-proof-");
  chmodSync(directory, 0o755);
  const unmountControl = mountFuseControl();
  const sshds = [];
  for (const pam of ["yes", "no"]) {
    mkdirSync(join(directory, pam));
    sshds.push(await startSshd(join(directory, pam), [`UsePAM ${pam}`]));
  }
  const ground: Ground = { directory, sshds };
  const seeds = Array.from({ length: run.rounds }, (_, index) => run.seed + index);
  const failures: string[] = [];
  let rounds = 0;
  try {
    const works = LANES.map(async (kind, index) => {
      const mine = seeds.filter((seed) => seed % LANES.length === index);
      if (mine.length === 0) return;
      const lane = await makeLane(index, kind, ground);
      try {
        const done = await runLane(lane, mine, { ...run, begin, failures });
        rounds += done;
      } finally {
        await lane.end();
      }
    });
    for (const result of await Promise.allSettled(works)) {
      if (result.status === "rejected") failures.push(`a lane ended: ${result.reason?.stack ?? result.reason}`);
    }
  } finally {
    for (const sshd of sshds) sshd.stop();
    unmountControl();
    // Of a lane that could not be made, too.
    for (const { path } of mountsWithin(readMounts(), directory)) Bun.spawnSync(["umount", "-l", path]);
    rmSync(directory, { recursive: true, force: true });
  }
  return { rounds, failures, seconds: (performance.now() - begin) / 1000 };
}

interface LaneRun extends Run {
  readonly begin: number;
  readonly failures: string[];
}

async function runLane(lane: Lane, seeds: readonly number[], run: LaneRun): Promise<number> {
  const { failures, tell } = run;
  const dead: RoundReport["dead"][number][] = [];
  let done = 0;
  for (const seed of seeds) {
    if (performance.now() - run.begin > run.within) break;
    try {
      const report = await runRound(lane, seed, run.thorough);
      dead.push(...report.dead);
      done++;
      const { story, faults, seconds } = report;
      tell(`${faults.length === 0 ? "ok  " : "FAIL"} ${seed} (${seconds.toFixed(1)} s) ${story.join("; ")}`);
      for (const fault of faults) {
        failures.push(`seed ${seed}: ${fault}\n  ${story.join("\n  ")}`);
        tell(`     ${fault}`);
      }
      if (faults.length > 0) tell(lane.log().split("\n").slice(-25).join("\n"));
    } catch (error) {
      failures.push(`seed ${seed} could not be carried out: ${error instanceof Error ? error.stack : error}`);
      tell(`FAIL ${seed} ${error}`);
      lane.shims.clear();
      await lane.kill();
    }
  }
  await lane.kill();
  await lane.start();
  for (const { account, path } of dead) {
    for (const sshd of lane.ground.sshds) {
      if (await sshd.admits(account, path)) failures.push(`a key of ${account} logs in again after everything`);
    }
  }
  return done;
}
