/** Many rounds in several worlds at a time, drawn by a seed. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createRandom } from "../closings/random.ts";
import { makeFleet } from "./fleet.ts";
import { FLEET_NAMES, fleetSteps, PARTS, runFleetStep } from "./fleet-walk.ts";
import { runStorm } from "./storm.ts";
import { ALL, type Round, runStep, type Step, stepsOf, VICTIMS } from "./walk.ts";
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

/** A ground for rounds of one kind. */
interface Ground {
  /** Does the round of that number, and says who died. */
  readonly round: (number: number) => Promise<Round & { readonly victim: string }>;
  readonly world: World;
  readonly end: () => Promise<void>;
}

/** Numbers its rounds from 0 on, whichever of its grounds they are on. */
interface Kind {
  readonly open: () => Promise<Ground>;
  next: number;
}

/** Storms among the steps of a service on its own host: every third round is one. */
const STORMS = 3;

/**
 * Every step of every deed with every victim, in an order that the seed draws, with storms in between; on the last of the worlds, what
 * reaches a host with an agent. Again from the beginning if there is more to do.
 */
export async function runRounds(run: Run): Promise<Outcome> {
  const began = performance.now();
  const isOver = () => performance.now() - began > run.within;
  const failures: string[] = [];
  const starts: Start[] = [];
  const done = new Map<string, number>();
  const places = new Set<string>();
  const kinds = await Promise.all([serviceKind(run), ...(run.only === undefined ? [agentKind(run)] : [])]);
  let finished = 0;

  function take(round: Round & { readonly victim: string }): void {
    if (round.start !== undefined) starts.push(round.start);
    if (!round.reached) return;
    finished++;
    done.set(round.victim, (done.get(round.victim) ?? 0) + 1);
    places.add(round.name);
  }

  async function work(kind: Kind): Promise<void> {
    let ground: Ground | undefined;
    const leave = async (): Promise<void> => {
      const left = ground;
      ground = undefined;
      if (left === undefined) return;
      failures.push(...(await delivered(left.world)));
      await left.end();
    };
    while (!isOver() && finished < run.rounds) {
      const number = kind.next++;
      try {
        ground ??= await kind.open();
        const round = await ground.round(number);
        take(round);
        run.tell(`${round.faults.length === 0 ? (round.reached ? "ok  " : "past") : "FAIL"} ${round.name}`);
        if (round.faults.length === 0) continue;
        failures.push(`${round.name}\n  ${round.faults.join("\n  ")}`);
        run.tell(`  ${round.faults.join("\n  ")}\n${tailOf(ground)}`);
      } catch (error) {
        // Of other tests on the machine, which lock the account databases for some seconds.
        if (/passwd\.lock is (held|left over)/.test(String(error))) continue;
        failures.push(`round ${number} could not be carried out: ${error instanceof Error ? error.stack : error}`);
        run.tell(`FAIL ${failures.at(-1)}\n${tailOf(ground)}`);
      }
      // What went wrong must not be found again in the rounds after.
      await leave();
    }
    await leave();
  }

  const works = Array.from(
    { length: run.worlds },
    (_, index) => kinds[index === run.worlds - 1 ? kinds.length - 1 : 0],
  );
  await Promise.all(works.map((kind) => (kind === undefined ? undefined : work(kind))));
  const of = [...done]
    .map(([victim, times]) => `${victim} ${times}`)
    .sort()
    .join(", ");
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  const summary = `${finished} kills (${of}), ${places.size} of them different, in ${minutes} minutes: ${failures.length} failures; ${sayStarts(starts)}`;
  return { rounds: finished, failures, summary };
}

function tailOf(ground: Ground | undefined): string {
  return ground?.world.log().split("\n").slice(-15).join("\n") ?? "";
}

async function serviceKind({ seed, program, only, tell }: Run): Promise<Kind> {
  const world = await makeWorld({ program, hostMode: "direct" });
  const steps: Step[] = [];
  for (const name of only === undefined ? Object.keys(ALL) : [only]) steps.push(...once(await stepsOf(world, name)));
  await world.end();
  const tasks = drawn(
    steps.flatMap((step) => VICTIMS.map((victim) => ({ step, victim }))),
    seed,
  );
  tell(`a service on its own host: ${steps.length} steps, ${tasks.length} rounds, and storms between them`);
  return {
    next: 0,
    open: async () => {
      const made = await makeWorld({ program, hostMode: "direct" });
      const round: Ground["round"] = async (number) => {
        if (only === undefined && number % STORMS === STORMS - 1) return await runStorm(made, seed + number);
        const task = tasks[(only === undefined ? number - Math.floor(number / STORMS) : number) % tasks.length];
        if (task === undefined) throw new Error("there is nothing to do");
        return { ...(await runStep(made, task.step, task.victim)), victim: task.victim };
      };
      return { world: made, round, end: made.end };
    },
  };
}

async function agentKind({ seed, program, tell }: Run): Promise<Kind> {
  const fleet = await makeFleet({ program });
  const steps: Step[] = [];
  for (const name of FLEET_NAMES) steps.push(...once(await fleetSteps(fleet, name)));
  await fleet.end();
  const tasks = drawn(
    steps.flatMap((step) => PARTS.map((parts) => ({ step, parts }))),
    seed,
  );
  tell(`a host with an agent: ${steps.length} steps, ${tasks.length} rounds`);
  return {
    next: 0,
    open: async () => {
      const made = await makeFleet({ program });
      const round: Ground["round"] = async (number) => {
        const task = tasks[number % tasks.length];
        if (task === undefined) throw new Error("there is nothing to do");
        return { ...(await runFleetStep(made, task.step, task.parts)), victim: task.parts.join(" and ") };
      };
      return { world: made.world, round, end: made.end };
    },
  };
}

/** Without what the service does again and again by itself. */
function once(steps: readonly Step[]): readonly Step[] {
  return steps.filter(({ point, nth }) => nth === 1 || !BY_ITSELF.test(point));
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
  const say = (of: "took" | "net" | "work", among: readonly Start[]) => {
    const all = among.map((start) => start[of]).sort((a, b) => a - b);
    const at = (share: number) => Math.round(all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0);
    return `median ${at(0.5)}, 99 % ${at(0.99)}, longest ${at(1)} ms`;
  };
  const quiet = starts.filter(({ isDisturbed }) => !isDisturbed);
  return `${starts.length} starts: ${say("took", starts)}; less waiting for a processor: ${say("net", starts)}; processor time of the service: ${say("work", starts)}; ${quiet.length} while the machine had little else to do: ${say("took", quiet)}`;
}
