/** Many rounds in several worlds at a time, drawn by a seed. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "../closings/random.ts";
import { ALL, type Round, runStep, type Step, stepsOf, VICTIMS, type Victim } from "./walk.ts";
import { makeWorld, type Start, type World } from "./world.ts";

export interface Run {
  readonly seed: number;
  readonly rounds: number;
  /** No round begins after so many milliseconds. */
  readonly within: number;
  readonly worlds: number;
  readonly program: readonly string[];
  readonly tell: (line: string) => void;
  /** The only deed, if not all. */
  readonly only?: string | undefined;
}

export interface Outcome {
  readonly rounds: number;
  readonly failures: readonly string[];
  readonly summary: string;
}

/** What the service does by itself is passed as often as it happens. */
const BY_ITSELF = /^(mail|webhook|stream)/;

/** Every step of every deed with every victim, in an order that the seed draws; again from the beginning if there is more to do. */
export async function runRounds(run: Run): Promise<Outcome> {
  const began = performance.now();
  const isOver = () => performance.now() - began > run.within;
  const failures: string[] = [];
  const starts: Start[] = [];
  const done = new Map<Victim, number>();
  const places = new Set<string>();
  const all = await allSteps(run);
  const tasks = drawn(
    all.flatMap((step) => VICTIMS.map((victim) => ({ step, victim }))),
    run.seed,
  );
  run.tell(`${all.length} steps of ${new Set(all.map(({ deed }) => deed)).size} deeds, ${tasks.length} rounds to do`);
  let next = 0;
  let finished = 0;

  async function work(index: number): Promise<void> {
    let world: World | undefined;
    const leave = async (): Promise<void> => {
      const left = world;
      world = undefined;
      if (left === undefined) return;
      failures.push(...(await delivered(left)));
      await left.end();
    };
    while (!isOver() && finished < run.rounds) {
      const task = tasks[next++ % tasks.length];
      if (task === undefined) break;
      const { step, victim } = task;
      const name = `${step.deed}; ${step.point}; ${step.nth}; ${victim}`;
      try {
        world ??= await makeWorld({ index, program: run.program, hostMode: "direct" });
        const round: Round = await runStep(world, step, victim);
        if (round.start !== undefined) starts.push(round.start);
        if (round.reached) {
          finished++;
          done.set(victim, (done.get(victim) ?? 0) + 1);
          places.add(`${step.deed} ${step.point} ${step.nth}`);
        }
        run.tell(`${round.faults.length === 0 ? (round.reached ? "ok  " : "past") : "FAIL"} ${name}`);
        if (round.faults.length === 0) continue;
        failures.push(`${name}\n  ${round.faults.join("\n  ")}`);
        run.tell(`  ${round.faults.join("\n  ")}\n${world.log().split("\n").slice(-15).join("\n")}`);
      } catch (error) {
        failures.push(`${name} could not be carried out: ${error instanceof Error ? error.stack : error}`);
        run.tell(`FAIL ${failures.at(-1)}\n${world?.log().split("\n").slice(-15).join("\n")}`);
      }
      // What went wrong must not be found again in the rounds after.
      await leave();
    }
    await leave();
  }

  await Promise.all(Array.from({ length: run.worlds }, (_, index) => work(index)));
  const of = VICTIMS.map((victim) => `${victim} ${done.get(victim) ?? 0}`).join(", ");
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  const summary = `${finished} kills (${of}) at ${places.size} of ${all.length} steps in ${minutes} minutes: ${failures.length} failures; ${sayStarts(starts)}`;
  return { rounds: finished, failures, summary };
}

async function allSteps({ program, only, tell }: Run): Promise<readonly Step[]> {
  const steps: Step[] = [];
  const world = await makeWorld({ index: 0, program, hostMode: "direct" });
  try {
    for (const name of only === undefined ? Object.keys(ALL) : [only]) {
      const found = (await stepsOf(world, name)).filter(({ point, nth }) => nth === 1 || !BY_ITSELF.test(point));
      tell(`${name}: ${found.length} steps`);
      steps.push(...found);
    }
  } finally {
    await world.end();
  }
  return steps;
}

function drawn<T>(from: readonly T[], seed: number): readonly T[] {
  const random = createRandom(seed);
  return from
    .map((value) => ({ value, at: random.below(2 ** 30) }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

/** After all that: each record came to the webhook, and is in the file. */
async function delivered(world: World): Promise<readonly string[]> {
  await world.start();
  const [row] = await world.sql(
    "select max(id)::int as last, (select min(id)::int from audit where action = 'webhook.create') as first from audit",
  );
  const { first, last } = row as { first: number; last: number };
  const missing = (has: ReadonlySet<number>, from: number) =>
    Array.from({ length: last - from }, (_, index) => from + 1 + index).filter((id) => !has.has(id));
  const written = () =>
    new Set(
      readFileSync(join(world.directory, "audit.jsonl"), "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line).id as number),
    );
  for (let attempt = 0; attempt < 300; attempt++) {
    if (missing(new Set(world.receiver.ids), first).length === 0 && missing(written(), 0).length === 0) return [];
    await Bun.sleep(100);
  }
  return [
    `the webhook never got ${missing(new Set(world.receiver.ids), first).join(", ") || "nothing"}; the stream's file lacks ${missing(written(), 0).join(", ") || "nothing"}`,
  ];
}

function sayStarts(starts: readonly Start[]): string {
  const say = (of: "took" | "net", among: readonly Start[]) => {
    const all = among.map((start) => start[of]).sort((a, b) => a - b);
    const at = (share: number) => Math.round(all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0);
    return `median ${at(0.5)}, 99 % ${at(0.99)}, longest ${at(1)} ms`;
  };
  const quiet = starts.filter(({ isDisturbed }) => !isDisturbed);
  return `${starts.length} starts: ${say("took", starts)}; less waiting for a processor: ${say("net", starts)}; ${quiet.length} while the machine had little else to do: ${say("took", quiet)}`;
}
