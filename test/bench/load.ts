/** Load on services that answer the same request, in turns. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { percentile } from "./bench.ts";
import { processorTime } from "./processor-time.ts";

const SECONDS = 5;
const ROUNDS = 3;
export const CONNECTIONS = 32;

/** How a service answers under load. */
export interface Figures {
  readonly rate: number;
  /** Milliseconds. */
  readonly p99: number;
  /** Microseconds of its processor time for each request, which other load on the machine hardly changes. */
  readonly cpu: number;
  /** The same of the database's processes; NaN where it is not known which they are. */
  readonly databaseCpu: number;
}

/** A process that answers, and what it is asked for. */
export interface Subject {
  readonly origin: string;
  readonly pid: number;
  /** The sessions that its requests have, one after the other. */
  readonly cookies: readonly string[];
  /** Below the API's root; `/me/keys` unless given. */
  readonly path?: string;
  /** The process of the database, whose children serve the connections. */
  readonly database?: number;
}

/** In turns, so that a slowdown of the machine affects all; medians of the rounds. */
export function measure<Name extends string>(
  subjects: Readonly<Record<Name, Subject>>,
  { rounds = ROUNDS, seconds = SECONDS }: { readonly rounds?: number; readonly seconds?: number } = {},
): Record<Name, Figures> {
  const names = Object.keys(subjects) as Name[];
  const runs = new Map<Name, Figures[]>(names.map((name) => [name, []]));
  for (const name of names) load(subjects[name], 1);
  for (let round = 0; round < rounds; round++) {
    for (const name of names) runs.get(name)?.push(load(subjects[name], seconds));
  }
  const median = (name: Name, pick: (figures: Figures) => number) => percentile((runs.get(name) ?? []).map(pick), 0.5);
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        rate: median(name, (run) => run.rate),
        p99: median(name, (run) => run.p99),
        cpu: median(name, (run) => run.cpu),
        databaseCpu: median(name, (run) => run.databaseCpu),
      },
    ]),
  ) as Record<Name, Figures>;
}

/** wrk (Debian package) from another process; throws if an answer was no success. */
function load({ origin, pid, cookies, path = "/me/keys", database }: Subject, duration: number): Figures {
  const script = join(import.meta.dir, "sessions.lua");
  const url = `${origin}/api/v1${path}`;
  const args = ["-t1", `-c${CONNECTIONS}`, `-d${duration}s`, "--latency", "-s", script, url, "--", ...cookies];
  const before = processorTime(pid);
  const databaseBefore = databaseTime(database);
  const text = execFileSync("wrk", args, { encoding: "utf8" });
  const spent = processorTime(pid) - before;
  const databaseSpent = [...databaseTime(database)].reduce(
    (sum, [child, time]) => sum + time - (databaseBefore.get(child) ?? 0),
    database === undefined ? Number.NaN : 0,
  );
  if (/Non-2xx/.test(text)) throw new Error(`${url} answered with failures:\n${text}`);
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
  const [, value = "", unit = ""] = /99%\s+([\d.]+)(us|ms|s)/.exec(text) ?? [];
  const requests = Number(/(\d+) requests in/.exec(text)?.[1]);
  const cpu = spent / requests;
  const databaseCpu = databaseSpent / requests;
  return { rate, cpu, databaseCpu, p99: Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? Number.NaN) };
}

/** Of each process that serves a connection, which may end meanwhile; not of what the database writes back. */
function databaseTime(pid: number | undefined): ReadonlyMap<number, number> {
  if (pid === undefined) return new Map();
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
  const serving = children.filter((child) => readFileSync(`/proc/${child}/cmdline`, "latin1").includes("[local]"));
  return new Map(serving.map((child) => [child, processorTime(child)]));
}
