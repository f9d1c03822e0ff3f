/** Every step of every deed: at each fault point that it passes, at each pass, somebody dies. */

import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import type { FaultPoint } from "../../../src/shared/work/fault-point.ts";
import { ANSWERABLE, ANSWERABLE_STARTS } from "./answerable.ts";
import { type Answer, DEEDS, type Deed, stateOf } from "./deeds.ts";
import { STARTS } from "./starts.ts";
import { judge } from "./verdict.ts";
import { MOST_WORK_TO_SERVE, type Start, type World } from "./world.ts";

/** Who dies: whoever gets there (the service, or a command), the database under it, or both. */
export const VICTIMS = ["service", "postgres", "both"] as const;
export type Victim = (typeof VICTIMS)[number];

export interface Step {
  readonly deed: string;
  readonly point: FaultPoint;
  /** At which pass. */
  readonly nth: number;
}

export interface Round {
  readonly name: string;
  /** False where it was not reached this time: what the service does by itself comes when it comes. */
  readonly reached: boolean;
  readonly faults: readonly string[];
  /** The start after it, where the service had died. */
  readonly start: Start | undefined;
}

export const ALL: Readonly<Record<string, Deed>> = { ...DEEDS, ...ANSWERABLE, ...STARTS, ...ANSWERABLE_STARTS };
/** What happens by itself after an answer, in milliseconds. */
const LATER = 1500;

/** The steps of the deed, in the order in which they are passed. */
export async function stepsOf(world: World, name: string): Promise<readonly Step[]> {
  const deed = ALL[name] as Deed;
  const into = join(world.directory, "trace");
  await world.start();
  const subject = await deed.prepare(await world.context(), world);
  if (deed.atStart !== undefined) await world.kill();
  writeFileSync(into, "");
  world.arm({ action: "trace", into });
  if (deed.atStart === undefined) await deed.act(world, subject);
  else await world.start();
  await Bun.sleep(LATER / 2);
  world.disarm();
  const steps = tracedSteps(into, name);
  rmSync(into);
  return steps;
}

/**
 * Does the deed, and lets the victim die at the step; then everything runs again, and is looked at. A step that comes by itself is waited
 * for `later` ms after the answer.
 */
export async function runStep(
  world: World,
  { deed: name, point, nth }: Step,
  victim: Victim,
  later = LATER,
): Promise<Round> {
  const deed = ALL[name] as Deed;
  const faults: string[] = [];
  await world.start();
  const subject = await deed.prepare(await world.context(), world);
  // A preparation may end in a crash: then there is nobody to ask, and the next start finishes it.
  const isUp = world.processes().length > 0;
  const before = isUp ? await stateOf(world, subject.name) : undefined;
  const since = isUp && deed.atStart === undefined ? await lastRecord(world) : 0;
  if (deed.atStart !== undefined) await world.kill();
  world.arm({ point, nth, action: victim === "service" ? "kill" : "stop" });
  let answer: Answer | undefined;
  let isAnswered = false;
  const acting = (deed.atStart === undefined ? deed.act(world, subject) : world.start()).then((told) => {
    isAnswered = true;
    if (typeof told === "object" && "status" in told) answer = told;
  });
  const reached = await isReached(world, () => isAnswered, later);
  world.disarm();
  if (reached && victim !== "service") await strike(world, victim);
  await acting;
  // What was to be done at a start is done at the next, too: else it would be a minute until the jobs come by.
  if (victim !== "postgres" || deed.atStart !== undefined) await world.kill();
  const { start, faults: late } = await startAgain(world);
  faults.push(...late);
  const context = await (victim === "postgres" ? world.contextAgain() : world.context());
  await until(() => world.ready());
  if (deed.atStart === "is finished")
    await until(async () => deed.isDone(await stateOf(world, subject.name), subject, before));
  // A service that goes on without its database for a moment repairs the host within a minute of its return.
  if (victim === "postgres" || name === "uam lock") await reconcileHost(context, world.dataDir, "repair at once");
  faults.push(...(await judge(world, { deed, subject, before, since, answer })));
  return { name: `${name}; ${point}; ${nth}; ${victim}`, reached, faults, start };
}

/** The steps of a deed, whose fault points were traced into the file. */
export function tracedSteps(into: string, deed: string): readonly Step[] {
  const passes = new Map<string, number>();
  return readFileSync(into, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((point) => {
      const nth = (passes.get(point) ?? 0) + 1;
      passes.set(point, nth);
      return { deed, point: point as FaultPoint, nth };
    });
}

/** Starts the service again, and says what was wrong with that; no `start` where it ran all the time, or ended. */
export async function startAgain(
  world: World,
): Promise<{ readonly start: Start | undefined; readonly faults: readonly string[] }> {
  const started = await world.start();
  if (started === "died") {
    return { start: undefined, faults: [`it does not start again:\n${world.log().slice(-2000)}`] };
  }
  const start = typeof started === "object" ? started : undefined;
  const isHeavy = start !== undefined && start.work > MOST_WORK_TO_SERVE;
  const faults = isHeavy ? [`it took ${start.work} ms of a processor until it served`] : [];
  return { start, faults };
}

export async function lastRecord(world: World): Promise<number> {
  const [row] = await world.sql("select coalesce(max(id), 0)::int as id from audit");
  return Number(row?.id);
}

/** Whether the point was reached: the file that armed it is gone. */
export async function isReached(world: World, isAnswered: () => boolean, later = LATER): Promise<boolean> {
  for (let left = later; left > 0; left -= 5) {
    if (!existsSync(world.fault)) return true;
    await Bun.sleep(5);
    // Until the answer it may take as long as it takes.
    if (!isAnswered()) left += 5;
  }
  return false;
}

/** The process has stopped at the point. */
async function strike(world: World, victim: Exclude<Victim, "service">): Promise<void> {
  let stopped: ChildProcess | undefined;
  await until(async () => {
    stopped = world.processes().find(isStopped);
    return stopped !== undefined;
  });
  const postmaster = world.postmaster();
  if (postmaster > 0) process.kill(postmaster, "SIGKILL");
  stopped?.kill(victim === "both" ? "SIGKILL" : "SIGCONT");
}

export function isStopped({ pid }: ChildProcess): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.[0] === "T";
  } catch {
    return false;
  }
}

/** What is not so by then is a fault that shows. */
export async function until(condition: () => Promise<boolean>, patience = MINUTE): Promise<void> {
  const end = performance.now() + patience;
  while (!(await condition().catch(() => false)) && performance.now() < end) await Bun.sleep(20);
}
