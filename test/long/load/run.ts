/**
 * `bun run test:long load [--minutes N] [--clients N] [--pause MS] [--faults SECONDS] [--seed N]`: mixed traffic on the built
 * binary with real accounts and simulated agents, while connections to the database are cut, commands of the host fail and
 * clients go away. Afterwards: only what was injected failed, memory is flat, nothing is left over, and everything verifies.
 */

import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { createRandom } from "../closings/random.ts";
import { startFaults } from "./faults.ts";
import { openThings, processesBelow, quantile, type Reading, read, regression } from "./gauges.ts";
import { makeAdmin, openGround } from "./ground.ts";
import { type Sample, startTraffic } from "./traffic.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    clients: { type: "string", default: "8" },
    pause: { type: "string", default: "500" },
    faults: { type: "string", default: "10" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const [minutes, clients, pause, seed] = [values.minutes, values.clients, values.pause, values.seed].map(Number) as [
  number,
  number,
  number,
  number,
];
if (process.geteuid?.() !== 0) throw new Error("This makes host accounts named ext_tl…: run it as root");
const AGENTS = 10;
/** A fault is felt until connections are there again and what failed was tried again. */
const FELT = 5000;
const MINUTE = 60_000;
const findings: string[] = [];
const tell = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);
const randomOf = (client: number) => createRandom(seed * 1000 + client);

tell(`${minutes} minutes, ${clients} clients, seed ${seed}`);
const ground = await openGround(AGENTS);
const { pid } = ground.service;
const password = await makeAdmin(ground);

const alone = startTraffic(ground, password, { clients: 1, pause: 20, leavers: 0, random: () => randomOf(999) });
await Bun.sleep(Math.min(3 * MINUTE, minutes * MINUTE * 0.1));
await alone.stop();
const idle = quantile(times(alone.samples), 0.99);
tell(
  `idle: ${alone.samples.length} requests, p50 ${quantile(times(alone.samples), 0.5).toFixed(0)} ms, p99 ${idle.toFixed(0)} ms`,
);
unexpected(alone.samples, []);
await Bun.sleep(5000);
const before = { things: openThings(pid), processes: processesBelow(pid).length };

const begin = Date.now();
const traffic = startTraffic(ground, password, { clients, pause, leavers: 100, random: randomOf });
const faults = startFaults(ground, createRandom(seed), Number(values.faults) * 1000);
const readings: Reading[] = [];
while (Date.now() - begin < minutes * MINUTE) {
  await Bun.sleep(10_000);
  if (!existsSync(`/proc/${pid}`)) await goneByItself();
  readings.push(read(pid));
  if (readings.length % 30 === 0) progress();
}
await faults.stop();
await traffic.stop();
progress();

unexpected(traffic.samples, faults.injected);
const quiet = traffic.samples.filter(({ at, milliseconds }) => !isFelt(at, milliseconds));
const p99 = quantile(times(quiet), 0.99);
tell(
  `p99 ${quantile(times(traffic.samples), 0.99).toFixed(0)} ms; away from faults ${p99.toFixed(0)} ms, idle ${idle.toFixed(0)} ms`,
);
if (p99 > 3 * idle) findings.push(`p99 is ${p99.toFixed(0)} ms, more than 3 times the idle ${idle.toFixed(0)} ms`);

// The first part is warming up.
const steady = readings.slice(Math.floor(readings.length / 4));
const line = regression(steady.map(({ at, memory }) => ({ at, value: memory })));
tell(
  `memory: ${line.start.toFixed(0)} MiB ${line.slope < 0 ? "-" : "+"} ${Math.abs(line.slope).toFixed(1)} MiB an hour`,
);
if (line.slope > Math.max(24, line.start * 0.1)) findings.push(`memory grows by ${line.slope.toFixed(1)} MiB an hour`);

await settle();
// Connections that clients keep for later are closed by then.
await Bun.sleep(90_000);
const after = { things: openThings(pid), processes: processesBelow(pid) };
for (const [thing, count] of after.things) {
  const more = count - (before.things.get(thing) ?? 0);
  if (more > 3) findings.push(`${more} more of ${thing} are open`);
}
tell(
  `descriptors: ${sum(before.things)} before, ${sum(after.things)} after; processes: ${before.processes} before, ${after.processes.length} after`,
);
// Connections come and go with their backends.
const strays = after.processes.filter((command) => !/postgres/.test(command));
if (strays.length > 0) findings.push(`processes are left: ${strays.join("; ")}`);
const running = ground.accountProcesses();
if (running !== "") findings.push(`processes of accounts are left:\n${running}`);
const stopping = performance.now();
await ground.end();
tell(`stopped in ${((performance.now() - stopping) / 1000).toFixed(1)} s`);
tell(`${findings.length} findings, seed ${seed}`);
for (const finding of findings) console.log(`\n${finding}`);
process.exit(findings.length === 0 ? 0 : 1);

async function goneByItself(): Promise<never> {
  tell(`the service has ended by itself; it said:\n${ground.service.log().split("\n").slice(-40).join("\n")}`);
  tell(`exit code ${await ground.service.stop()}; faults: ${JSON.stringify(faults.injected.slice(-3))}`);
  unexpected(traffic.samples, faults.injected);
  for (const finding of findings) console.log(`\n${finding}`);
  process.exit(1);
}

function progress(): void {
  const { samples } = traffic;
  const recent = samples.slice(-5000);
  const { memory, descriptors } = read(pid);
  const rate = samples.length / ((Date.now() - begin) / 1000);
  const failed = samples.filter(({ expected }) => !expected).length;
  tell(
    `${samples.length} requests (${rate.toFixed(0)}/s), ${failed} failed, ${traffic.left()} left, ${faults.injected.length} faults; p99 ${quantile(times(recent), 0.99).toFixed(0)} ms; ${memory.toFixed(0)} MiB, ${descriptors} descriptors`,
  );
}

function times(samples: readonly Sample[]): readonly number[] {
  return samples.map(({ milliseconds }) => milliseconds);
}

function isFelt(at: number, milliseconds: number): boolean {
  return faults.injected.some(({ from, to }) => at + milliseconds >= from && at <= (to || Date.now()) + FELT);
}

/** What failed without a fault, and what failed in a way that no fault explains. */
function unexpected(samples: readonly Sample[], injected: readonly unknown[]): void {
  const kinds = new Map<string, { count: number; text: string }>();
  for (const { at, milliseconds, what, status, text, expected } of samples) {
    if (expected) continue;
    const explained = injected.length > 0 && isFelt(at, milliseconds) && (status === 0 || status >= 400);
    const kind = `${explained ? "beside a fault" : "without a fault"}: ${what} ${status}`;
    const known = kinds.get(kind) ?? { count: 0, text };
    kinds.set(kind, { ...known, count: known.count + 1 });
    if (!explained) findings.push(`${new Date(at).toISOString()} ${what}: ${status} ${text}`);
  }
  for (const [kind, { count, text }] of [...kinds].sort()) tell(`${count} ${kind}, such as ${text}`);
}

/** What is owed is done within a minute or two; then host and log are as they should be. */
async function settle(): Promise<void> {
  let check = { status: 1, output: "" };
  for (const end = Date.now() + 5 * MINUTE; check.status !== 0 && Date.now() < end; await Bun.sleep(10_000)) {
    check = await ground.command("reconcile", "--check");
  }
  tell(`reconcile --check: ${check.status} ${check.output.slice(0, 500)}`);
  if (check.status !== 0) findings.push(`reconcile --check: ${check.output}`);
  const verified = await ground.command("audit", "verify");
  tell(`audit verify: ${verified.status} ${verified.output}`);
  if (verified.status !== 0) findings.push(`audit verify: ${verified.output}`);
}

function sum(things: ReadonlyMap<string, number>): number {
  return [...things.values()].reduce((all, count) => all + count, 0);
}
