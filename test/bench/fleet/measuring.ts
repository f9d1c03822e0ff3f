/** What a part of the benchmark of the fleet took, and of which processes. */

import { availableParallelism } from "node:os";
import { percentile } from "../bench.ts";
import type { Crowd } from "./crowd.ts";
import { type Field, useOf } from "./field.ts";

export interface Measured {
  readonly field: Field;
  readonly crowd: Crowd;
  /** For how many hosts the work is, where it is one for each. */
  readonly each?: number;
}

/** Prints what the work says, and what service, database and simulation used of the processors meanwhile. */
export async function measuring(
  { field, crowd, each }: Measured,
  name: string,
  work: () => Promise<string>,
): Promise<void> {
  const before = { uses: field.services.map(useOf), cost: await crowd.cost(), at: performance.now() };
  const said = await work();
  const milliseconds = performance.now() - before.at;
  const cost = await crowd.cost();
  const uses = field.services.map(useOf);
  const share = (cpu: number) => `${((cpu / milliseconds) * 100).toFixed(1)} %`;
  // A service that was started meanwhile begins at nothing.
  const spent = (now: number, then = 0) => (now < then ? now : now - then);
  const [{ database }] = uses as [ReturnType<typeof useOf>];
  const parts = uses.map(({ service }, index) => {
    const cpu = spent(service.cpu, before.uses[index]?.service.cpu);
    return `service ${seconds(cpu)} s (${share(cpu)} of a core), ${service.memory.toFixed(0)} MiB`;
  });
  const stored = spent(database.cpu, before.uses[0]?.database.cpu);
  const simulated = cost.cpu - before.cost.cpu;
  console.log(`${name.padEnd(12)} ${said}`);
  if (each !== undefined) {
    const all = uses.reduce((sum, { service }, index) => sum + spent(service.cpu, before.uses[index]?.service.cpu), 0);
    const per = (cpu: number) => `${((cpu * 1000) / each).toFixed(0)} us`;
    console.log(
      `             for each host: service ${per(all)}, PostgreSQL ${per(stored)}, simulation ${per(simulated)} of processor time; ${availableParallelism()} processors for all of it`,
    );
  }
  console.log(
    `             ${parts.join("; ")}; PostgreSQL ${seconds(stored)} s (${share(stored)}), ${database.memory.toFixed(0)} MiB; simulation ${seconds(simulated)} s (${share(simulated)}), ${(cost.memory / 2 ** 20).toFixed(0)} MiB`,
  );
  const counted = Object.entries(cost.counts).map(([what, count]) => [what, count - (before.cost.counts[what] ?? 0)]);
  const answers = counted.filter(([, count]) => Number(count) > 0).map(([what, count]) => `${count} ${what}`);
  console.log(`             ${answers.join(", ") || "no answers"}`);
}

/** Two digits of it. */
export function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(2);
}

/** The half, nearly all, the last. */
export function spread(times: readonly number[]): string {
  const at = (q: number) => seconds(percentile(times, q));
  return `p50 ${at(0.5)} p99 ${at(0.99)} last ${at(1)} s`;
}
