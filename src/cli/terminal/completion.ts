/** Completion: the parser knows commands, options and their values; stored names come from the database. */

import { bash, fish, nu, pwsh, type ShellCompletion, zsh } from "@optique/core/completion";
import { message, text } from "@optique/core/message";
import type { Suggestion } from "@optique/core/parser";
import { string, type ValueParser } from "@optique/core/valueparser";
import type { Nameable } from "../../domain/stats/names.ts";
import { ACCOUNT_PREFIX } from "../../shared/text/account-name.ts";
import type { CliEnvironment } from "./environment.ts";

/** The suggestions to offer to a shell, with placeholders for names. */
export interface Asked {
  readonly shell: ShellCompletion;
  readonly suggestions: readonly Suggestion[];
}

/** How long a shell waits for names, in milliseconds. */
const PATIENCE = 2000;
/** No argument can contain it. */
const MARK = "\0";
const SHELLS = { bash, zsh, fish, nu, pwsh };

/** A text argument whose values are stored names. */
export function stored<M extends "NAME" | "KEYID" | "ID">(metavar: M, kind: Nameable): ValueParser<"sync", string> {
  return offering(string({ metavar }), kind);
}

/** The same parser; the shell is offered the stored names. */
export function offering<T>(parser: ValueParser<"sync", T>, kind: Nameable): ValueParser<"sync", T> {
  return { ...parser, suggest: () => [{ kind: "literal", text: `${MARK}${kind}` }] };
}

/** A text argument that is the name of a file or a directory. */
export function fileName(metavar: "FILE" | "DIRECTORY" = "FILE"): ValueParser<"sync", string> {
  return { ...string({ metavar }), suggest: (prefix) => [{ kind: "file", type: "any", pattern: prefix }] };
}

/** The shells, which pass their request to `ask` instead of printing suggestions. */
export function askingShells(ask: (asked: Asked) => void): Record<string, ShellCompletion> {
  const asking = Object.entries(SHELLS).map(([name, shell]) => {
    const encodeSuggestions = (suggestions: readonly Suggestion[]) => {
      ask({ shell, suggestions });
      return [];
    };
    return [name, { ...shell, encodeSuggestions }];
  });
  return Object.fromEntries(asking);
}

/** The text for the shell; `words` are those of the command line, the last of them unfinished. */
export async function answer(
  environment: CliEnvironment,
  { shell, suggestions }: Asked,
  words: readonly string[],
): Promise<string> {
  const complete = suggestions.map(async (suggestion) =>
    suggestion.kind === "literal" && suggestion.text.startsWith(MARK)
      ? await namesOf(environment, suggestion.text.slice(MARK.length) as Nameable, words)
      : [suggestion],
  );
  // One per line, as the scripts read them.
  const offered = (await Promise.all(complete)).flat();
  // Short for --help, which is offered as well.
  const chunks = [...shell.encodeSuggestions(offered.filter((one) => one.kind !== "literal" || one.text !== "-h"))];
  return chunks.map((chunk) => `${chunk}\n`).join("");
}

/** None if they cannot be read: pressing Tab must not print an error. */
async function namesOf(
  environment: CliEnvironment,
  kind: Nameable,
  words: readonly string[],
): Promise<readonly Suggestion[]> {
  const typed = words.at(-1) ?? "";
  const account = kind === "users" && typed.startsWith(ACCOUNT_PREFIX) ? ACCOUNT_PREFIX : "";
  const [, , of = ""] = words.filter((word) => !word.startsWith("-"));
  try {
    const slow = new Promise<readonly never[]>((resolve) => setTimeout(resolve, PATIENCE, []).unref());
    const names = await Promise.race([lookUp(environment, kind, { prefix: typed.slice(account.length), of }), slow]);
    return names.map(({ name, hint }) => ({
      kind: "literal",
      text: `${account}${name}`,
      ...(hint === "" ? {} : { description: message`${text(hint)}` }),
    }));
  } catch {
    return [];
  }
}

async function lookUp(
  environment: CliEnvironment,
  kind: Nameable,
  wanted: { readonly prefix: string; readonly of: string },
) {
  const { loadConfig } = await import("./environment.ts");
  const { openDatabaseToLook } = await import("../../server/compose.ts");
  const { silentLog } = await import("../../shared/log.ts");
  const { listNames } = await import("../../domain/stats/names.ts");
  const { db, close } = await openDatabaseToLook(await loadConfig(environment), silentLog);
  try {
    return await listNames(db, kind, wanted);
  } finally {
    await close();
  }
}
