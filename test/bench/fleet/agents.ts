/** A process of simulated agents, for the benchmark of the fleet: it is told what to do over its parent's channel. */

import process from "node:process";
import { checkingKey } from "../../../src/protocol/fleet-signature.ts";
import { createSimulatedAgent, type SimulatedAgent, simulatedKey } from "../../support/simulated-agent.ts";
import type { Command, Job, Reply } from "./crowd.ts";
import { createWire } from "./wire.ts";

/** Of so many agents one checks the service's signatures: all of them would take as much of the machine as the service. */
const ONE_CHECKS = 20;
/** What a host needs for a change, in milliseconds: read, write, fsync, look for processes. */
const APPLYING = { least: 10, most: 30 };

const job: Job = JSON.parse(process.argv[2] ?? "{}");
const wires = new Map<number, ReturnType<typeof createWire>>();
const agents: SimulatedAgent[] = [];

process.on("message", (command: Command) => {
  const answer = follow(command);
  if (answer !== undefined) process.send?.({ ...answer, of: command.n });
});
process.on("disconnect", () => process.exit(0));
process.send?.({ of: 0 } satisfies Reply);

function follow(command: Command): Omit<Reply, "of"> | undefined {
  switch (command.do) {
    case "start":
      for (let index = 0; index < job.count; index++) setTimeout(() => start(index), Math.random() * command.within);
      return {};
    case "told":
      return { times: agents.map(({ toldAt }) => toldAt) };
    case "opened":
      return { times: agents.map(({ openedAt }) => openedAt) };
    case "shut":
      return { times: agents.map(({ shutAt }) => shutAt) };
    case "confirmed":
      return { times: agents.map(({ confirmedAt, confirmedId }) => (confirmedId >= command.id ? confirmedAt : 0)) };
    case "hang":
      for (const [index, agent] of agents.entries()) agent.hanging = index < command.count;
      return {};
    case "cost": {
      const { user, system } = process.cpuUsage();
      return { cpu: (user + system) / 1000, memory: process.memoryUsage.rss(), counts: counts() };
    }
    case "stop":
      for (const agent of agents) agent.stop();
      for (const wire of wires.values()) wire.close();
      setTimeout(() => process.exit(0), 50);
      return {};
  }
}

function start(index: number): void {
  const host = job.first + index;
  const origin = job.origins[index % job.origins.length] ?? "";
  const { hostname, port } = new URL(origin);
  const wire = createWire({ hostname, port: Number(port) });
  wires.set(host, wire);
  const agent = createSimulatedAgent({
    host,
    key: simulatedKey(host).key,
    serviceKey: index % ONE_CHECKS === 0 ? checkingKey(Buffer.from(job.serviceKey, "base64")) : undefined,
    cursor: job.cursor,
    send: wire.send,
    wait: 55,
    hours: job.hours ?? false,
    applying: () => APPLYING.least + Math.random() * (APPLYING.most - APPLYING.least),
  });
  agents.push(agent);
  void agent.run();
  // Started at random: their looks are spread over the second.
  if (job.hours === true) setInterval(() => agent.tick(), 1000);
}

function counts(): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const agent of agents) {
    for (const [name, count] of Object.entries(agent.counts)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}
