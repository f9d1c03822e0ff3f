/** A history as deeds with intervals, from its lines; and what is wrong with the lines themselves. */

import type { Deed, End, Invoke, Line, Start } from "../format.ts";

/** A deed, from its invocation to its end; one without an end may go on for ever. */
export type Done = Deed & {
  readonly n: number;
  readonly process: string;
  readonly invoked: number;
  readonly ended: number;
  readonly outcome: End["e"];
  /** Undefined: the answer says nothing of hosts. */
  readonly pending: readonly string[] | undefined;
  readonly by: number | null;
};

export type Of<Name extends Deed["do"]> = Done & { readonly do: Name };

export interface History {
  readonly start: Start;
  /** In the order of their invocations. */
  readonly deeds: readonly Done[];
  /** Sentences; nothing else is to be believed of a history with any. */
  readonly malformed: readonly string[];
}

const NEVER = Number.POSITIVE_INFINITY;

/** Throws for a file without a first line of this version: there is nothing to be said of it. */
export function readHistory(lines: readonly Line[]): History {
  const [start, ...rest] = lines;
  if (start?.e !== "start" || start.version !== 1)
    throw new Error("The first line is not that of a history, version 1");
  const malformed: string[] = [];
  const open = new Map<number, Invoke>();
  const ends = new Map<number, End>();
  const invokes: Invoke[] = [];
  const busy = new Map<string, number>();
  let before = 0;
  for (const line of rest) {
    if (line.e === "start") {
      malformed.push("There are two first lines");
      continue;
    }
    if (!(line.t >= before)) malformed.push(`Time goes back at ${line.n}: from ${before} to ${line.t}`);
    before = Math.max(before, line.t);
    if (line.e === "invoke") {
      if (open.has(line.n)) malformed.push(`${line.n} is invoked twice`);
      const other = busy.get(line.process);
      if (other !== undefined) malformed.push(`${line.process} invokes ${line.n} before ${other} has ended`);
      if ("host" in line && !start.hosts.includes(line.host)) malformed.push(`${line.n} names an unknown host`);
      open.set(line.n, line);
      busy.set(line.process, line.n);
      invokes.push(line);
      continue;
    }
    const begun = open.get(line.n);
    if (begun === undefined) malformed.push(`${line.n} ends without a beginning`);
    else if (ends.has(line.n)) malformed.push(`${line.n} ends twice`);
    else {
      ends.set(line.n, line);
      // What may go on is not what the process waits for.
      if (busy.get(begun.process) === line.n) busy.delete(begun.process);
    }
  }
  return { start, deeds: invokes.map((invoke) => done(invoke, ends.get(invoke.n))), malformed };
}

function done(invoke: Invoke, end: End | undefined): Done {
  const { e: _, t, ...deed } = invoke;
  const outcome = end?.e ?? "unknown";
  const ended = end === undefined || outcome === "unknown" ? NEVER : end.t;
  return { ...deed, invoked: t, ended, outcome, pending: end?.pending, by: end?.by ?? null } as Done;
}
