/** The command line: runs the command that was given, and reports how it ended. */

import { loggable, UamError } from "../shared/errors.ts";
import { RESIDENT } from "./long-running.ts";
import { type CliEnvironment, EXIT } from "./terminal/environment.ts";

/** Runs the program with the given arguments and returns its exit code; failures are a sentence on standard error. */
export async function runProgram(given: readonly string[], environment: CliEnvironment): Promise<number> {
  // People type `--version` before they have read the help.
  const args = given[0] === "--version" ? ["version", ...given.slice(1)] : given;
  try {
    const command = RESIDENT.get(args.join(" ")) ?? (await import("./parsed.ts")).runParsed.bind(undefined, args);
    return await command(environment);
  } catch (error) {
    return await report(environment, error);
  }
}

async function report(environment: CliEnvironment, error: unknown): Promise<number> {
  const { ConfigError } = await import("../config/config.ts");
  if (error instanceof ConfigError) {
    environment.err(`uam: the configuration has faults:\n${error.faults.map((fault) => `  ${fault}\n`).join("")}`);
    return EXIT.configuration;
  }
  if (error instanceof UamError || isSystemFailure(error)) environment.err(`uam: ${error.message}\n`);
  else environment.err(`uam: ${error instanceof Error ? stackOf(error) : String(error)}\n`);
  return EXIT.failed;
}

function stackOf(error: Error): string {
  const { message, stack } = loggable(error);
  return stack ?? message;
}

/** A system call that failed (errno(3)): its message names the call, and a stack trace would not help. */
function isSystemFailure(error: unknown): error is Error {
  return error instanceof Error && "code" in error && /^E[A-Z0-9]+$/.test(String(error.code));
}
