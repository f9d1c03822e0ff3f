/** `bun run bench`: all benchmarks, or those named. */

import { buildHere, resolveCommit, withCommit } from "./commit.ts";
import type { Candidate } from "./hot-paths.ts";
import { missing, type Need } from "./needs.ts";
import { type BenchArguments, type BenchOptions, BenchUsageError, readOptions } from "./options.ts";
import { SlowerError } from "./recorded.ts";

interface Benchmark {
  readonly run: (options: BenchOptions) => Promise<void>;
  readonly needs: readonly Need[];
  /** Whether it can measure another commit's program in turns with this one. */
  readonly compares?: true;
  /** The commit that it is about, and compares with where it is run by itself and none is named; this one is built, too. */
  readonly before?: string;
  /** Whether it is run only by name. */
  readonly named?: true;
}

/** The last commit that knew of no other host. */
const ONE_HOST = "bacef067459b98296cfa6702f5b56e28bed15487";

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  requests: {
    run: async () => (await import("./requests.ts")).benchRequests(),
    needs: ["dist/uam", "wrk", "node"],
  },
  "key-changes": {
    run: async (options) => (await import("./key-changes.ts")).benchKeyChanges(options),
    needs: ["dist/uam"],
  },
  start: { run: async () => (await import("./start.ts")).benchStart(), needs: ["dist/uam", "wrk"] },
  size: { run: async () => (await import("./size.ts")).benchSize(), needs: ["dist/uam"] },
  flood: { run: async () => (await import("./flood.ts")).benchFlood(), needs: ["dist/uam", "wrk"] },
  enumeration: { run: async (options) => (await import("./enumeration.ts")).benchEnumeration(options), needs: [] },
  reconcile: { run: async () => (await import("./reconcile.ts")).benchReconcile(), needs: ["unshare", "dist/uam"] },
  profiles: { run: async () => (await import("./profiles.ts")).benchProfiles(), needs: ["unshare"] },
  console: {
    run: async (options) => (await import("./console.ts")).benchConsole(options),
    needs: ["dist/uam", "wrk", "chromium", "npm"],
  },
  access: { run: async (options) => (await import("./access.ts")).benchAccess(options), needs: [] },
  answerable: { run: async (options) => (await import("./answerable.ts")).benchAnswerable(options), needs: [] },
  append: { run: async (options) => (await import("./append.ts")).benchAppend(options), needs: [] },
  import: { run: async () => (await import("./import.ts")).benchImport(), needs: [] },
  events: { run: async (options) => (await import("./events.ts")).benchEvents(options), needs: [] },
  "audit-pages": { run: async (options) => (await import("./audit-pages.ts")).benchAuditPages(options), needs: [] },
  "audit-verify": { run: async (options) => (await import("./audit-verify.ts")).benchAuditVerify(options), needs: [] },
  scale: { run: async (options) => (await import("./scale.ts")).benchScale(options), needs: [] },
  export: { run: async (options) => (await import("./export.ts")).benchExport(options), needs: ["psql"] },
  "hot-paths": {
    run: async ({ rival }) => (await import("./hot-paths-bench.ts")).benchHotPaths(rival),
    needs: ["dist/uam", "psql"],
    compares: true,
  },
  guard: {
    run: async () => (await import("./guard.ts")).benchGuard(),
    needs: ["dist/uam", "psql"],
    named: true,
  },
  fleet: { run: async (options) => (await import("./fleet.ts")).benchFleet(options), needs: ["dist/uam"] },
  "fleet-hours": {
    run: async (options) => (await import("./fleet-hours.ts")).benchFleetHours(options),
    needs: ["dist/uam"],
  },
  "fleet-single": {
    run: async (options) => (await import("./fleet-single.ts")).benchFleetSingle(options),
    needs: ["wrk", "git"],
    compares: true,
    before: ONE_HOST,
  },
  backup: { run: async (options) => (await import("./backup.ts")).benchBackup(options), needs: [] },
};

const NAMES = Object.entries(BENCHMARKS);

const USAGE = `Usage: bun run bench [NAME...] [--rows N] [--small N] [--calls N] [--agents N] [--users N]
                     [--against COMMIT]

Measures against a floor taken in the same run, and prints machine, versions and date. Without a NAME all of these:
  ${listed(({ named }) => named === undefined)}
By name only, since it fails if a hot path has become more than a fifth dearer:
  ${listed(({ named }) => named === true)}

  --rows N    records of the large audit log; 300000 unless given, or BENCH_ROWS
  --small N   records of the small one that it is compared with; 5000, or BENCH_SMALL
  --calls N   calls of each case; 200, or BENCH_CALLS
  --agents N  simulated hosts of the fleet; 10000, or BENCH_AGENTS
  --users N   users of the large installation; 100000, or BENCH_USERS
  --against COMMIT
              builds that commit, and measures it in turns with dist/uam; without a NAME these, which can:
              ${listed(({ compares }) => compares === true)}
              ${listed(({ before }) => before !== undefined)} by itself builds this commit and one from before there were other hosts
  -h, --help  print this`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    console.log(USAGE);
    return 0;
  }
  let asked: BenchArguments;
  let chosen: readonly Benchmark[];
  let commit: string | undefined;
  try {
    asked = readOptions(args);
    chosen = choose(asked);
    // Before anything is measured: otherwise a missing program would show only after many minutes.
    const lacks = missing([
      ...chosen.flatMap(({ needs }) => needs),
      ...(asked.against === undefined ? [] : ["git" as const]),
    ]);
    if (lacks.length > 0) {
      console.error(lacks.join("\n"));
      return 1;
    }
    const before = chosen.length === 1 ? chosen[0]?.before : undefined;
    const against = asked.against ?? before;
    commit = against === undefined ? undefined : resolveCommit(against);
    if (before !== undefined) buildHere();
  } catch (error) {
    if (!(error instanceof BenchUsageError)) throw error;
    console.error(`${error.message}\n\n${USAGE}`);
    return 2;
  }
  const measure = async (rival: Candidate | undefined) => {
    for (const { run } of chosen) await run({ ...asked, rival });
  };
  try {
    await (commit === undefined ? measure(undefined) : withCommit(commit, measure));
    return 0;
  } catch (error) {
    if (!(error instanceof SlowerError)) throw error;
    console.error(error.message);
    return 1;
  } finally {
    await (await import("../support/database.ts")).stopTestServer();
  }
}

function choose({ names, against }: BenchArguments): readonly Benchmark[] {
  const unknown = names.find((name) => !Object.hasOwn(BENCHMARKS, name));
  if (unknown !== undefined) throw new BenchUsageError(`There is no benchmark ${JSON.stringify(unknown)}.`);
  const alone = names.find((name) => against !== undefined && BENCHMARKS[name]?.compares === undefined);
  if (alone !== undefined) throw new BenchUsageError(`${alone} cannot compare two commits.`);
  return NAMES.filter(([name, { named, compares }]) =>
    names.length > 0 ? names.includes(name) : against === undefined ? named === undefined : compares === true,
  ).map(([, benchmark]) => benchmark);
}

function listed(which: (benchmark: Benchmark) => boolean): string {
  return NAMES.filter(([, benchmark]) => which(benchmark))
    .map(([name]) => name)
    .join(", ");
}
