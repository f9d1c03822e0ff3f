/** Describes the changes that work on the host would make, as sentences: a dry run whose log is kept. */

import type { Host } from "../protocol/host.ts";
import { type LogFields, silentLog } from "../shared/log.ts";
import { createDryRunExecutor } from "./execute/dry-run.ts";
import type { HostContext } from "./host-context.ts";

/** The lines that a dry run of `work` logs, each once; `open` makes a host of this context. Changes nothing. */
export async function plannedBy(
  context: HostContext,
  open: (context: HostContext) => Host,
  work: (host: Host) => Promise<unknown>,
): Promise<readonly string[]> {
  const lines = new Set<string>();
  const log = { ...silentLog, info: (message: string, fields?: LogFields) => void lines.add(lineOf(message, fields)) };
  const settings = { ...context.settings, mode: "dry-run" } as const;
  await work(open({ ...context, settings, log: silentLog, executor: createDryRunExecutor(settings, log) }));
  return [...lines];
}

function lineOf(message: string, { argv, ...fields }: LogFields = {}): string {
  const said = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const command = Array.isArray(argv) ? argv.map(String) : [];
  return `${message}: ${[...command, ...said].join(" ")}`;
}
