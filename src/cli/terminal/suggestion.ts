/** Suggests the command or option that a mistyped one probably meant. */

import { extractOptionNames, type Usage, type UsageTerm } from "@optique/core/usage";
import { closest, distance } from "fastest-levenshtein";
import { replaceUnprintable } from "../../shared/text/text.ts";

/** Other tools' names for what is called differently here. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  ls: ["list"],
  get: ["show"],
  info: ["show"],
  new: ["create", "add"],
  add: ["create"],
  create: ["add"],
  rm: ["delete", "remove", "revoke"],
  del: ["delete", "remove", "revoke"],
  remove: ["delete", "revoke"],
  delete: ["remove", "revoke"],
  edit: ["update"],
  set: ["update"],
  password: ["passwd"],
};

/** The names that the parser itself adds to every level, and to the first. */
const EVERYWHERE = ["-h", "--help"];
const AT_ROOT = { commands: ["help", "completion"], options: [...EVERYWHERE, "--version"] };

/**
 * A sentence that names the command or option that does not exist, and the nearest one; undefined if every command and option in
 * `args` exists, so that something else is wrong.
 */
export function explainUnknown(program: string, usage: Usage, args: readonly string[]): string | undefined {
  let path = program;
  let level: Usage = usage;
  for (const [index, word] of args.entries()) {
    const commands = commandsOf(level);
    if (commands.size === 0) return explainOption(path, level, args.slice(index));
    const inner = commands.get(word);
    if (inner === undefined) return explainCommand(path, word, { names: [...commands.keys()], isRoot: index === 0 });
    path = `${path} ${word}`;
    level = inner;
  }
  return undefined;
}

interface Level {
  readonly names: readonly string[];
  readonly isRoot: boolean;
}

function explainCommand(path: string, word: string, { names, isRoot }: Level): string | undefined {
  if (word.startsWith("-")) {
    const options = isRoot ? AT_ROOT.options : EVERYWHERE;
    return options.includes(word) ? undefined : noOption(path, word, options);
  }
  const known = isRoot ? [...names, ...AT_ROOT.commands] : names;
  if (known.includes(word)) return undefined;
  const meant = nearest(word, known);
  const hint = meant === undefined ? "" : ` Did you mean "${path} ${meant}"?`;
  return `There is no command ${quoted(`${path} ${word}`)}.${hint}`;
}

function noOption(path: string, name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return `${path} has no option ${quoted(name)}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`;
}

/** The first option among the words that the command does not have; words after "--" and options' values do not count. */
function explainOption(path: string, usage: Usage, words: readonly string[]): string | undefined {
  const names = [...extractOptionNames(usage), ...EVERYWHERE];
  const withValue = valueOptions(usage);
  for (let index = 0; index < words.length && words[index] !== "--"; index++) {
    const [name = ""] = words[index]?.split("=") ?? [];
    if (!/^-./.test(name)) continue;
    if (!names.includes(name)) return noOption(path, name, names);
    if (withValue.has(name) && !words[index]?.includes("=")) index++;
  }
  return undefined;
}

/** The name that was probably meant: another tool's name for it, one that begins like it, or the one that differs least. */
function nearest(word: string, names: readonly string[]): string | undefined {
  const known = SYNONYMS[word]?.find((name) => names.includes(name));
  const begun = word.length > 2 ? names.find((name) => name.startsWith(word)) : undefined;
  if (known !== undefined || begun !== undefined || names.length === 0) return known ?? begun;
  const similar = closest(word, names);
  // If more than half of it differs, it is another word.
  return distance(word, similar) <= Math.ceil(word.length / 2) ? similar : undefined;
}

/** The commands that may come next, with what follows each. */
function commandsOf(usage: Usage): ReadonlyMap<string, Usage> {
  const found = new Map<string, Usage>();
  for (const [index, term] of usage.entries()) {
    if (term.type === "command") found.set(term.name, usage.slice(index + 1));
    for (const inner of alternatives(term)) for (const [name, rest] of commandsOf(inner)) found.set(name, rest);
    if (found.size > 0) break;
  }
  return found;
}

function alternatives(term: UsageTerm): readonly Usage[] {
  if (term.type === "exclusive") return term.terms;
  return "terms" in term ? [term.terms as Usage] : [];
}

function valueOptions(usage: Usage): ReadonlySet<string> {
  return new Set(
    usage.flatMap((term): readonly string[] => {
      if (term.type === "option") return term.metavar === undefined ? [] : term.names;
      return alternatives(term).flatMap((inner) => [...valueOptions(inner)]);
    }),
  );
}

/** As it is typed, with what could drive a terminal escaped. */
function quoted(text: string): string {
  return replaceUnprintable(JSON.stringify(text), () => "?");
}
