/** Parses the command line: into a command to run, or the text for help, a completion or a mistake. */

import { runParser } from "@optique/core/facade";
import { formatMessage, message } from "@optique/core/message";
import { fillUsage } from "../shared/text/usage.ts";
import { commands, GROUPS } from "./commands.ts";
import { type Asked, answer, askingShells } from "./terminal/completion.ts";
import { type CliEnvironment, type Command, EXIT } from "./terminal/environment.ts";

const MAX_WIDTH = 100;

const FOOTER = message`uam COMMAND --help explains a command. Exit codes: 0 done, 1 failed, 2 usage, 78 configuration.`;

/** Runs the command that the arguments give, and returns its exit code; prints help, or what is wrong with the arguments. */
export async function runParsed(args: readonly string[], environment: CliEnvironment): Promise<number> {
  const parsed = parse(args, environment, environment.out);
  return await (typeof parsed === "function" ? parsed(environment) : finish(parsed, args, environment));
}

/** The outcome of arguments that give no command to run. */
type Outcome = { readonly shown: "help" } | { readonly asked: Asked | undefined } | { readonly wrong: string };

function parse(args: readonly string[], environment: CliEnvironment, out: (text: string) => void): Command | Outcome {
  let asked: Asked | undefined;
  const shells = askingShells((more) => {
    asked = more;
  });
  const maxWidth = Math.min(environment.columns ?? MAX_WIDTH, MAX_WIDTH);
  const isRoot = args[0] === undefined || args[0].startsWith("-") || args.join(" ") === "help";
  return runParser<typeof commands, Outcome, Outcome>(commands, "uam", args, {
    help: { command: true, option: { names: ["-h", "--help"] }, onShow: () => ({ shown: "help" as const }) },
    completion: { command: true, shells, onShow: () => ({ asked }) },
    brief: message`Time-limited SSH accounts for external users.`,
    ...(isRoot ? { footer: FOOTER } : {}),
    commandList: "top-level",
    usageLine: () => [{ type: "argument", metavar: "COMMAND" }],
    aboveError: "none",
    maxWidth,
    termWidth: "auto",
    // Help is padded on the right; in completion output every blank may matter.
    stdout: (text) => {
      out(`${args[0] === "completion" ? text : fillUsage(text.replace(/ +$/gm, ""), maxWidth)}\n`);
    },
    // `finish` prints errors.
    stderr: () => {},
    onError: (_, error) => ({ wrong: formatMessage(error, { quotes: true }) }),
  });
}

async function finish(outcome: Outcome, args: readonly string[], environment: CliEnvironment): Promise<number> {
  if ("wrong" in outcome) {
    const isBare = args.length === 0 || (args.length === 1 && GROUPS.has(args[0] ?? ""));
    if (isBare) parse([...args, "--help"], environment, environment.err);
    else environment.err(`uam: ${await explained(outcome.wrong, args)}\nTry uam --help, or uam COMMAND --help.\n`);
    return EXIT.usage;
  }
  if ("asked" in outcome) {
    // The words after the shell's name; without any it asked for the script, which is printed.
    if (outcome.asked !== undefined) environment.out(await answer(environment, outcome.asked, args.slice(2)));
    return EXIT.done;
  }
  // Slow to load, and printed by one command's help only.
  if (args.includes("serve")) environment.out(await variableHelp());
  return EXIT.done;
}

async function explained(wrong: string, args: readonly string[]): Promise<string> {
  const { explainUnknown } = await import("./terminal/suggestion.ts");
  return explainUnknown("uam", commands.usage, args[0] === "help" ? args.slice(1) : args) ?? wrong;
}

async function variableHelp(): Promise<string> {
  const { describeVariables } = await import("../config/config.ts");
  const lines = describeVariables().map((row) => `  ${row.name}\n      ${row.meaning} [${row.fallback}]\n`);
  return `Environment variables, with their defaults:\n\n${lines.join("")}`;
}
