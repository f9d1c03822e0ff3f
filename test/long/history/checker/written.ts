/** Histories written by hand, for tests. */

import type { Deed, End, Line, Start } from "../format.ts";

/** One deed with its interval; without an outcome it never ended. */
export interface Entry {
  readonly from: number;
  readonly to: number;
  readonly deed: Deed;
  readonly outcome: End["e"] | undefined;
  readonly answer: Pick<End, "pending" | "by">;
}

/** Two hosts with leases of 10 s. */
export const START: Start = {
  ...{ e: "start", version: 1, wall: "2026-11-27T00:00:00.000Z", seed: 1 },
  ...{ hosts: ["h1", "h2"], lease: 10_000, settle: 3000, slack: 500 },
};

/** The end of everything. */
export const LATE = 100_000_000;

/** Every host has confirmed it, unless something else is said. */
export function ok(from: number, to: number, deed: Deed, answer: Entry["answer"] = { pending: [] }): Entry {
  return { from, to, deed, outcome: "ok", answer };
}

export function fail(from: number, to: number, deed: Deed): Entry {
  return { from, to, deed, outcome: "fail", answer: {} };
}

export function unknown(from: number, to: number, deed: Deed): Entry {
  return { from, to, deed, outcome: "unknown", answer: {} };
}

export function cutShort(from: number, deed: Deed): Entry {
  return { from, to: from, deed, outcome: undefined, answer: {} };
}

/** Of alice with the key k, unless others are named. */
export function login(host: string, key = "k", user = "alice"): Deed {
  return { do: "login", user, key, host };
}

export function create(user = "alice", hosts: readonly string[] = ["h1", "h2"], from = 0, to = LATE): Deed {
  return { do: "create", user, hosts, from, to };
}

export function upload(key = "k", user = "alice"): Deed {
  return { do: "upload", user, key };
}

export function revoke(key = "k", user = "alice"): Deed {
  return { do: "revoke", user, key };
}

/** alice and her key, both there at 100. */
export const ALICE: readonly Entry[] = [ok(0, 50, create()), ok(60, 100, upload())];

export function linesOf(entries: readonly Entry[], start: Start = START): readonly Line[] {
  const lines = entries.flatMap(({ from, to, deed, outcome, answer }, index): (Line & { readonly t: number })[] => {
    const n = index + 1;
    const invoke = { e: "invoke", n, t: from, process: `p${n}`, ...deed } as const;
    return outcome === undefined ? [invoke] : [invoke, { e: outcome, n, t: to, ...answer }];
  });
  return [start, ...lines.sort((one, other) => one.t - other.t)];
}
