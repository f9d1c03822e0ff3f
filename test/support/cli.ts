/** The real command line in this process, on a database of its own, as transcripts: arguments in, output and exit code out. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { runProgram } from "../../src/cli/program.ts";
import type { CliEnvironment } from "../../src/cli/terminal/environment.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { createTestDatabase } from "./database.ts";

export interface Transcript {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface TestCli {
  /** The `UAM_…` variables that a process needs to use the same database; see `inherited` for the rest. */
  readonly variables: Record<string, string>;
  readonly dataDir: string;
  run(
    args: readonly string[],
    circumstances?: Partial<CliEnvironment> & { readonly input?: string },
  ): Promise<Transcript>;
  /** The JSON that the command prints with `--json`. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into records of every shape
  json(args: readonly string[]): Promise<any>;
  close(): Promise<void>;
}

/** Opens a command line on a fresh database; `variables` change the configuration. */
export async function createTestCli(variables: Record<string, string> = {}): Promise<TestCli> {
  const { connection, drop } = await createTestDatabase();
  if ("url" in connection) throw new Error("the test database is expected on a unix socket");
  // A URL cannot name a socket's directory to the driver; libpq's variables can.
  Object.assign(process.env, {
    PGHOST: connection.host,
    PGPORT: String(connection.port),
    PGUSERNAME: connection.username,
  });
  const dataDir = mkdtempSync(join(tmpdir(), "uam-cli-"));
  const all = { UAM_DATA_DIR: dataDir, UAM_DATABASE_URL: `postgres:///${connection.database}`, ...variables };
  const run: TestCli["run"] = async (args, circumstances = {}) => {
    const written = { out: "", err: "" };
    const code = await runProgram(args, {
      variables: all,
      currentDirectory: dataDir,
      isRoot: process.getuid?.() === 0,
      invocation: "uam",
      operator: "olga",
      isTerminal: false,
      columns: undefined,
      runtime: bunRuntime,
      out: (text) => {
        written.out += text;
      },
      outStream: async (stream) => {
        // Not text(), which would drop the byte order mark.
        written.out += Buffer.from(await new Response(stream).arrayBuffer()).toString("utf8");
      },
      err: (text) => {
        written.err += text;
      },
      readStandardInput: async () => circumstances.input ?? "",
      ask: undefined,
      untilStopped: () => new Promise(() => {}),
      ...circumstances,
    });
    return { code, stdout: written.out, stderr: written.err };
  };
  // As installed: the audit log has its key, so that commands that only read find everything they need.
  const { code, stderr } = await run(["migrate"]);
  if (code !== 0) throw new Error(`uam migrate: ${stderr}`);
  return {
    variables: all,
    dataDir,
    run,
    json: async (args) => {
      const { code, stdout, stderr } = await run([...args, "--json"]);
      if (code !== 0) throw new Error(`uam ${args.join(" ")}: ${code} ${stderr}`);
      return JSON.parse(stdout);
    },
    close: async () => {
      rmSync(dataDir, { recursive: true, force: true });
      await drop();
    },
  };
}
