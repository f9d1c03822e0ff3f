/** `bun run bench`: all benchmarks, or those named. */

import { missing, type Need } from "./needs.ts";
import { type BenchOptions, BenchUsageError, readOptions } from "./options.ts";

interface Benchmark {
  readonly run: (options: BenchOptions) => Promise<void>;
  readonly needs: readonly Need[];
}

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
  flood: { run: async () => (await import("./flood.ts")).benchFlood(), needs: ["dist/uam", "wrk"] },
  enumeration: { run: async (options) => (await import("./enumeration.ts")).benchEnumeration(options), needs: [] },
  reconcile: { run: async () => (await import("./reconcile.ts")).benchReconcile(), needs: ["unshare", "dist/uam"] },
  console: {
    run: async (options) => (await import("./console.ts")).benchConsole(options),
    needs: ["dist/uam", "wrk", "chromium", "npm"],
  },
  append: { run: async (options) => (await import("./append.ts")).benchAppend(options), needs: [] },
  events: { run: async (options) => (await import("./events.ts")).benchEvents(options), needs: [] },
  "audit-pages": { run: async (options) => (await import("./audit-pages.ts")).benchAuditPages(options), needs: [] },
  "audit-verify": { run: async (options) => (await import("./audit-verify.ts")).benchAuditVerify(options), needs: [] },
  export: { run: async (options) => (await import("./export.ts")).benchExport(options), needs: ["psql"] },
  fleet: { run: async (options) => (await import("./fleet.ts")).benchFleet(options), needs: ["dist/uam"] },
  "fleet-single": {
    run: async (options) => (await import("./fleet-single.ts")).benchFleetSingle(options),
    needs: ["dist/uam", "wrk"],
  },
  backup: { run: async (options) => (await import("./backup.ts")).benchBackup(options), needs: [] },
};

const USAGE = `Usage: bun run bench [NAME...] [--rows N] [--small N] [--calls N] [--agents N]

Measures against a floor taken in the same run, and prints machine, versions and date. Without a NAME all of these:
  ${Object.keys(BENCHMARKS).join(", ")}

  --rows N    records of the large audit log; 300000 unless given, or BENCH_ROWS
  --small N   records of the small one that it is compared with; 5000, or BENCH_SMALL
  --calls N   calls of each case; 200, or BENCH_CALLS
  --agents N  simulated hosts of the fleet; 10000, or BENCH_AGENTS
  -h, --help  print this`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    console.log(USAGE);
    return 0;
  }
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions(args);
    const unknown = options.names.find((name) => !Object.hasOwn(BENCHMARKS, name));
    if (unknown !== undefined) throw new BenchUsageError(`There is no benchmark ${JSON.stringify(unknown)}.`);
  } catch (error) {
    if (!(error instanceof BenchUsageError)) throw error;
    console.error(`${error.message}\n\n${USAGE}`);
    return 2;
  }
  const { names } = options;
  const chosen = Object.entries(BENCHMARKS).filter(([name]) => names.length === 0 || names.includes(name));
  // Before anything is measured: otherwise a missing program would show only after many minutes.
  const lacks = missing(chosen.flatMap(([, { needs }]) => needs));
  if (lacks.length > 0) {
    console.error(lacks.join("\n"));
    return 1;
  }
  try {
    for (const [, { run }] of chosen) await run(options);
    return 0;
  } finally {
    await (await import("../support/database.ts")).stopTestServer();
  }
}
