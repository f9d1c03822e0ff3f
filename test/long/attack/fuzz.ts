/** Every operation of the document, with anything: none answers 500, hangs, or answers otherwise than the document says. */

import fc from "fast-check";
import { checkAnswer } from "../../support/openapi.ts";
import { type Attempt, attemptOn, OPERATIONS } from "./requests.ts";
import type { Caller, Target } from "./target.ts";

/** What hashes a password takes its time, and 64 MiB; after what locks the caller out, another has to come. Of these a few are enough. */
const COSTLY = /password|login|reset|forgot|me\/lock/;
const COSTLY_SHARE = 0.05;
/** Seconds; a request that takes longer hangs. */
const PATIENCE = 10;
const LANES = 8;

export interface FuzzOutcome {
  readonly requests: number;
  /** How many requests got each status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** The longest, in milliseconds, and what it was. */
  readonly slowest: readonly [number, string];
  readonly faults: readonly string[];
}

/** Sends at least `count` requests in all, to every operation as every caller. */
export async function fuzz(
  target: Target,
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<FuzzOutcome> {
  const statuses = new Map<number, number>();
  const faults: string[] = [];
  let slowest: [number, string] = [0, ""];
  let requests = 0;
  const names = ["owner", "user", "nobody"] as const;
  const callers: Partial<Record<Caller["name"], Promise<Caller>>> = {};
  const jobs = OPERATIONS.flatMap((operation) => names.map((name) => ({ operation, name })));
  const share = Math.ceil(count / jobs.reduce((sum, { operation }) => sum + weightOf(operation), 0));
  for (const [index, { operation, name }] of jobs.entries()) {
    const attempts = fc.sample(attemptOn(operation), {
      numRuns: Math.ceil(share * weightOf(operation)),
      seed: seed + index,
    });
    const caller = () => (callers[name] ??= target.enter(name));
    let next = 0;
    await Promise.all(
      Array.from({ length: LANES }, async () => {
        for (let attempt = attempts[next++]; attempt !== undefined; attempt = attempts[next++]) {
          const begin = performance.now();
          const status = await tryOne(target, await caller(), attempt).catch((error: unknown) => {
            faults.push(`${operation} as ${name}: ${JSON.stringify(attempt).slice(0, 600)}: ${error}`);
            return 0;
          });
          const took = performance.now() - begin;
          if (took > slowest[0]) slowest = [took, `${operation} as ${name}`];
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          requests++;
          // It may have ended its own session, or taken its own access away.
          const tried = callers[name];
          const isOut = status === 401 && name !== "nobody" && !(await isIn(target, await caller()));
          if (isOut && callers[name] === tried) delete callers[name];
        }
      }),
    );
  }
  return { requests, statuses, slowest, faults };
}

async function isIn({ api }: Target, { name, headers }: Caller): Promise<boolean> {
  return (await fetch(`${api}/${name === "owner" ? "settings" : "me"}`, { headers })).status === 200;
}

function weightOf(operation: string): number {
  return COSTLY.test(operation) ? COSTLY_SHARE : 1;
}

/** The answer's status; throws if it is a fault. */
async function tryOne({ api }: Target, { headers }: Caller, { method, path, body }: Attempt): Promise<number> {
  const request = new Request(`${api}${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body }),
  });
  const response = await fetch(request, { redirect: "manual", signal: AbortSignal.timeout(PATIENCE * 1000) });
  const text = await response.text();
  if (response.status >= 500) throw new Error(`${response.status} ${text.slice(0, 300)}`);
  if (new URL(request.url).pathname.startsWith("/api/v1/"))
    checkAnswer({ request, response, text, sent: parsed(body) });
  return response.status;
}

function parsed(body: string | undefined): unknown {
  try {
    return body === undefined ? undefined : JSON.parse(body);
  } catch {
    return undefined;
  }
}
