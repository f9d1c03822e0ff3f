/** The options of `bun run bench`. */

import { env } from "node:process";
import { parseArgs } from "node:util";
import type { Candidate } from "./hot-paths.ts";

export interface BenchOptions {
  /** Records of the large log. */
  readonly rows: number;
  /** Records of the small log that it is compared with. */
  readonly small: number;
  /** Calls of each case. */
  readonly calls: number;
  /** Simulated hosts. */
  readonly agents: number;
  /** Users of the large installation. */
  readonly users: number;
  /** The program of another commit, to be measured in turns with this one. */
  readonly rival: Candidate | undefined;
}

/** What the arguments say; the commit is not built yet. */
export interface BenchArguments extends Omit<BenchOptions, "rival"> {
  readonly names: readonly string[];
  readonly against: string | undefined;
}

/** A mistake in the arguments. */
export class BenchUsageError extends Error {}

/** `--rows N`, `--small N`, `--calls N`, or BENCH_ROWS and so on; whatever is left are names of benchmarks. Throws BenchUsageError. */
export function readOptions(args: readonly string[]): BenchArguments {
  const { values, positionals } = parse(args);
  const number = (given: string | undefined, variable: string, fallback: number): number => {
    const value = Number(given ?? env[variable] ?? fallback);
    if (!Number.isSafeInteger(value) || value < 1)
      throw new BenchUsageError(`${variable} is not a whole number above 0.`);
    return value;
  };
  return {
    rows: number(values.rows, "BENCH_ROWS", 300_000),
    small: number(values.small, "BENCH_SMALL", 5_000),
    calls: number(values.calls, "BENCH_CALLS", 200),
    agents: number(values.agents, "BENCH_AGENTS", 10_000),
    users: number(values.users, "BENCH_USERS", 100_000),
    names: positionals,
    against: values.against,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        rows: { type: "string" },
        small: { type: "string" },
        calls: { type: "string" },
        agents: { type: "string" },
        users: { type: "string" },
        against: { type: "string" },
      },
      allowPositionals: true,
    });
  } catch (cause) {
    throw new BenchUsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
