/** The steps of what reaches a host with an agent: there the agent dies, the service, the database, or two of them. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Answer, type Deed, stateOf } from "./deeds.ts";
import { FLEET_DEEDS, type Fleet, HOST_DEEDS } from "./fleet.ts";
import { judge } from "./verdict.ts";
import { isReached, isStopped, lastRecord, type Round, type Step, startAgain, tracedSteps, until } from "./walk.ts";

export const PARTS = [
  ...[["agent"], ["service"], ["postgres"]],
  ...[
    ["agent", "service"],
    ["agent", "postgres"],
    ["service", "postgres"],
  ],
] as const satisfies readonly (readonly ("agent" | "service" | "postgres")[])[];
export type Parts = (typeof PARTS)[number];

export const FLEET_NAMES = [...Object.keys(FLEET_DEEDS), ...Object.keys(HOST_DEEDS)];

/** In milliseconds, without less of the host being different: a busy machine takes long to shut many accounts, and then to open them. */
const PATIENCE = 120_000;

/** The steps of the deed, of service and agent. */
export async function fleetSteps(fleet: Fleet, name: string): Promise<readonly Step[]> {
  const { world } = fleet;
  await agree(fleet);
  const deed = FLEET_DEEDS[name];
  const subject = await deed?.prepare(await world.context(), world);
  await agree(fleet);
  const into = join(world.directory, "trace");
  writeFileSync(into, "");
  world.arm({ action: "trace", into });
  if (deed !== undefined && subject !== undefined) await deed.act(world, subject);
  else await HOST_DEEDS[name]?.act(fleet);
  await Bun.sleep(1500);
  world.disarm();
  await HOST_DEEDS[name]?.settle(fleet);
  return tracedSteps(into, name);
}

/** Does the deed, and lets the parts die at the step, as `runStep` does; then all run again, and are looked at. */
export async function runFleetStep(
  fleet: Fleet,
  { deed: name, point, nth }: Step,
  parts: Parts,
  later?: number,
): Promise<Round> {
  const { world } = fleet;
  const faults: string[] = [...(await agree(fleet))];
  const deed: Deed | undefined = FLEET_DEEDS[name];
  const subject = await deed?.prepare(await world.context(), world);
  faults.push(...(await agree(fleet)));
  const before = subject === undefined ? undefined : await stateOf(world, subject.name);
  const since = await lastRecord(world);
  world.arm({ point, nth, action: "stop" });
  let answer: Answer | undefined;
  let isAnswered = false;
  const acting = (async () => {
    if (deed !== undefined && subject !== undefined) answer = await deed.act(world, subject);
    else await HOST_DEEDS[name]?.act(fleet).catch(() => undefined);
    isAnswered = true;
  })();
  const reached = await isReached(world, () => isAnswered, later);
  world.disarm();
  if (reached) await strike(fleet, parts);
  await acting;
  const { start, faults: late } = await startAgain(world);
  faults.push(...late);
  await world.contextAgain();
  await until(() => world.ready());
  fleet.startAgent();
  faults.push(...((await HOST_DEEDS[name]?.settle(fleet)) ?? []), ...(await agree(fleet)));
  if (deed !== undefined && subject !== undefined)
    faults.push(...(await judge(world, { deed, subject, before, since, answer })));
  return { name: `${name}; ${point}; ${nth}; ${parts.join(" and ")}`, reached, faults, start };
}

/** One of the processes has stopped at the point. */
async function strike(fleet: Fleet, parts: readonly string[]): Promise<void> {
  const { world } = fleet;
  const stopped = () => world.processes().find(isStopped);
  await until(async () => stopped() !== undefined);
  const there = stopped();
  const postmaster = world.postmaster();
  if (parts.includes("postgres") && postmaster > 0) process.kill(postmaster, "SIGKILL");
  const own = [world.service(), fleet.agent()];
  if (parts.includes("agent")) {
    // Another process that acts for a host, such as one that joins it, dies in the agent's place.
    if (there !== undefined && !own.includes(there)) there.kill("SIGKILL");
    await fleet.killAgent();
  }
  if (parts.includes("service")) await world.kill();
  there?.kill("SIGCONT");
}

/** What of the host is not as the service has it stored, after some time. */
async function agree(fleet: Fleet): Promise<readonly string[]> {
  await fleet.world.start();
  fleet.startAgent();
  let end = performance.now() + PATIENCE;
  let fewest = Number.POSITIVE_INFINITY;
  for (;;) {
    let left: readonly string[];
    try {
      left = await fleet.disagreement(await fleet.world.context());
    } catch (error) {
      left = [`it cannot be compared: ${error}`];
      await fleet.world.contextAgain();
    }
    if (left.length < fewest) end = performance.now() + PATIENCE;
    fewest = Math.min(fewest, left.length);
    if (left.length === 0 || performance.now() > end) return left;
    await Bun.sleep(100);
  }
}
