/**
 * One account on thousands of simulated hosts whose window begins and ends, and one whose access is allowed on request: when each host has opened it, and
 * shut it. The agents keep hours as the program's own do: a look each second, by their own clock.
 */

import { describeMachine } from "./bench.ts";
import { type Crowd, gatherCrowd } from "./fleet/crowd.ts";
import { FIRST_HOST, type Field, openField } from "./fleet/field.ts";
import { measuring, seconds, spread } from "./fleet/measuring.ts";
import { seen } from "./fleet.ts";
import type { BenchOptions } from "./options.ts";

const USERS = 100;
const PROCESSES = 2;
const MINUTE = 60_000;
/** A host has to open, and shut, it within so many milliseconds. */
const AIM = 5000;
/** How long the last is waited for. */
const PATIENCE = 60_000;
/** All hosts have to hear of a window before it begins. */
const NOTICE = 20_000;
const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/** Prints how many of the hosts were open, and shut, within five seconds, and when the last was. */
export async function benchFleetHours({ agents }: BenchOptions): Promise<void> {
  console.log(`\n## A window on ${agents} simulated hosts\n\n${describeMachine()}`);
  const field = await openField(agents, USERS);
  const [{ origin, call }] = field.services as [Field["services"][0]];
  const serviceKey = field.serviceKey;
  const job = {
    first: FIRST_HOST,
    count: agents,
    origins: [origin],
    serviceKey,
    cursor: await field.head(),
    hours: true,
  };
  const crowd = await gatherCrowd(job, PROCESSES);
  try {
    const began = new Date();
    await crowd.start(10_000);
    const { last } = await seen(field, began, agents);
    console.log(`all hosts held after ${seconds(last)} s`);
    const patch = (body: object) => call("PATCH", `/users/${field.userId}`, field.admin, body);
    const from = Math.ceil((Date.now() + NOTICE) / MINUTE) * MINUTE;
    const hours = { zone: "UTC", windows: [{ days: DAYS, from: clockOf(from), to: clockOf(from + MINUTE) }] };
    await measuring({ field, crowd }, "hours", async () => {
      const { status } = await patch({ hours });
      const told = (await crowd.told()).filter((at) => at > 0).length;
      return `answered ${status}; ${told} told by then, ${Math.max(0, Math.round((from - Date.now()) / 1000))} s before the window`;
    });
    await Bun.sleep(Math.max(0, from - 1000 - Date.now()));
    await measuring({ field, crowd }, "begins", () => followed(() => crowd.opened(), from, agents));
    await Bun.sleep(Math.max(0, from + MINUTE - 1000 - Date.now()));
    await measuring({ field, crowd }, "ends", () => followed(() => crowd.shut(), from + MINUTE, agents));
    await onRequest(field, crowd, { agents, patch });
  } finally {
    await crowd.stop();
    await field.close();
  }
}

/** From the click to the last host. */
async function onRequest(
  field: Field,
  crowd: Crowd,
  { agents, patch }: { readonly agents: number; readonly patch: (body: object) => Promise<unknown> },
): Promise<void> {
  const [{ call }] = field.services as [Field["services"][0]];
  await patch({ hours: null, on_request: { rule: "self", max_hours: 4 } });
  await Bun.sleep(5000);
  await measuring({ field, crowd, each: agents }, "on request", async () => {
    const began = Date.now();
    const { status } = await call("POST", "/me/access", field.user, { hours: 1, reason: "bench" });
    const answered = Date.now() - began;
    return `answered ${status} after ${answered} ms; ${await followed(() => crowd.opened(), began, agents)}`;
  });
}

/** When each host had done it, once all have. */
async function followed(moments: () => Promise<readonly number[]>, since: number, expected: number): Promise<string> {
  let times: readonly number[] = [];
  while (times.length < expected && Date.now() < since + PATIENCE) {
    await Bun.sleep(500);
    // By the moment of the window itself: one that was early would show as such.
    times = (await moments()).filter((at) => at >= since - 1000).map((at) => at - since);
  }
  const early = times.filter((time) => time < 0).length;
  const within = times.filter((time) => time >= 0 && time <= AIM).length;
  return `${within} of ${expected} hosts within ${AIM / 1000} s, ${early} early: ${spread(times)}`;
}

/** The time of day in UTC. */
function clockOf(time: number): string {
  return new Date(time).toISOString().slice(11, 16);
}
