/**
 * The whole service, jobs and mail included, as one fetch handler for a server of somebody else's: `export default { fetch }`, as
 * `bun src/fetch.ts` and `deno serve --allow-all src/fetch.ts` take it. Importing it opens the database and migrates it, and throws where
 * that fails. It is configured by the environment like `uam serve`; UAM_LISTEN does not count, UAM_BASE_URL must be set.
 */

import process from "node:process";
import { runProgram } from "./cli/program.ts";
import { NO_ADDRESS, peerOf, withoutAddress } from "./runtime/handler.ts";
import type { Runtime, ServeOptions } from "./runtime/runtime.ts";

const baseUrl = process.env.UAM_BASE_URL ?? "";
if (baseUrl === "") throw new Error("UAM_BASE_URL must be set: the address under which the server is reached");

const stopping = Promise.withResolvers<void>();
const begun = Promise.withResolvers<ServeOptions["fetch"]>();
const said: string[] = [];
const runtime = await thisRuntime();

const ended = runProgram(["serve"], {
  variables: { ...process.env, UAM_LISTEN: `unix:${NO_ADDRESS}` },
  currentDirectory: process.cwd(),
  isRoot: process.getuid?.() === 0,
  invocation: "uam",
  operator: process.env.USER ?? "",
  isTerminal: false,
  columns: undefined,
  runtime: withoutAddress(runtime, baseUrl, begun.resolve),
  out: (text) => void process.stdout.write(text),
  outStream: async () => {},
  err: (text) => {
    said.push(text);
    process.stderr.write(text);
  },
  readStandardInput: async () => "",
  ask: undefined,
  untilStopped: () => stopping.promise,
});
ended.then(() => begun.reject(new Error(said.at(-1) ?? "The service has ended")));
const handle = await begun.promise;

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => void close().then((code) => process.exit(code)));
}

/** Lets requests and jobs under way finish and closes the database; resolves to an exit code. SIGTERM and SIGINT do so, and end the process. */
export async function close(): Promise<number> {
  stopping.resolve();
  return await ended;
}

/** Answers a request. `about` is what the server says of the connection: Bun's server, or Deno's info. */
export async function fetch(request: Request, about?: unknown): Promise<Response> {
  // How long a connection may be idle is the server's affair.
  return await handle(request, peerOf(request, about), (seconds) => seconds);
}

export default { fetch };

async function thisRuntime(): Promise<Runtime> {
  if (typeof Bun === "undefined") return (await import("./runtime/deno.ts")).denoRuntime;
  return (await import("./runtime/bun.ts")).bunRuntime;
}
