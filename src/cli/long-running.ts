/** The commands that stay in memory. */

import type { Command } from "./terminal/environment.ts";

/** The service. */
export const runService: Command = async (environment) =>
  (await import("./commands/service/serve.ts")).serve(environment);

/** The agent of a further host. */
const runAgent: Command = async (environment) =>
  (await import("./commands/agents/agent-run.ts")).runTheAgent(environment);

/** By the arguments that start them, without the parser of all others: it takes 10 ms, and 8 MiB that would never be given back. */
export const RESIDENT: ReadonlyMap<string, Command> = new Map([
  ["serve", runService],
  ["agent run", runAgent],
]);
