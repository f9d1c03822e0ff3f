/** Suggests the command or option that was probably meant by one that does not exist. */

import { extractOptionNames, type Usage, type UsageTerm } from "@optique/core/usage";
import { closest, distance } from "fastest-levenshtein";
import { replaceUnprintable } from "../../shared/text/text.ts";
import { COMMAND_MEANINGS, OPTION_MEANINGS, SYNONYMS, WORD_MEANINGS } from "./meanings.ts";
import { shellWord } from "./shell-word.ts";

/** The names that the parser itself adds to every level, and to the first. */
const EVERYWHERE = ["-h", "--help"];
const AT_ROOT = { commands: ["help", "completion"], options: [...EVERYWHERE, "--version"] };

/**
 * A sentence that names the command, option or argument that does not exist, and what was probably meant; undefined if all in `args`
 * exist, so that something else is wrong.
 */
export function explainUnknown(program: string, usage: Usage, args: readonly string[]): string | undefined {
  let level: Usage = usage;
  for (const [index, word] of args.entries()) {
    const commands = commandsOf(level);
    const path = [program, ...args.slice(0, index)].join(" ");
    if (commands.size === 0) return explainWords(path, level, args.slice(index));
    const inner = commands.get(word);
    if (inner === undefined) return explainCommand({ program, path, commands }, args, index);
    level = inner;
  }
  return undefined;
}

interface Level {
  readonly program: string;
  /** The program and the words that exist. */
  readonly path: string;
  readonly commands: ReadonlyMap<string, Usage>;
}

/** `args[at]` is no command of the level. */
function explainCommand(level: Level, args: readonly string[], at: number): string | undefined {
  const { program, path, commands } = level;
  const word = args[at] ?? "";
  const isRoot = at === 0;
  if (word.startsWith("-")) {
    const options = isRoot ? AT_ROOT.options : EVERYWHERE;
    return options.includes(word) ? undefined : noOption(path, word, options);
  }
  const known = [...commands.keys(), ...(isRoot ? AT_ROOT.commands : [])];
  if (known.includes(word)) return undefined;
  const elsewhere = COMMAND_MEANINGS[args.slice(0, at + 1).join(" ")] ?? (isRoot ? inGroup(word, commands) : undefined);
  const similar = nearest(word, known);
  const meant =
    elsewhere === undefined
      ? similar && `${path} ${similar}`
      : [program, elsewhere, ...args.slice(at + 1).map(shellWord)].join(" ");
  const hint = meant === undefined ? "" : ` Did you mean "${printable(meant)}"?`;
  return `There is no command ${quoted(`${path} ${word}`)}.${hint}`;
}

/** The command of that name in the first group that has one; the list of a group for its plural. */
function inGroup(word: string, commands: ReadonlyMap<string, Usage>): string | undefined {
  const one = word.replace(/s$/, "");
  if (one !== word && commandsOf(commands.get(one) ?? []).has("list")) return `${one} list`;
  const group = [...commands].find(([, usage]) => commandsOf(usage).has(word));
  return group && `${group[0]} ${word}`;
}

function noOption(path: string, name: string, known: readonly string[]): string {
  const meant = OPTION_MEANINGS[name]?.find((other) => known.includes(other)) ?? similarOption(name, known);
  return `${path} has no option ${quoted(name)}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`;
}

/** Every option of one letter is similar to every other. */
function similarOption(name: string, known: readonly string[]): string | undefined {
  return name.length > 2 ? nearest(name, known) : undefined;
}

/** The first option that the command does not have, else the first word that is one argument too many. */
function explainWords(path: string, usage: Usage, words: readonly string[]): string | undefined {
  const names = [...extractOptionNames(usage), ...EVERYWHERE];
  const { options, others } = sorted(usage, words);
  const unknown = options.find((name) => !names.includes(name));
  if (unknown !== undefined) return noOption(path, unknown, names);
  const extra = others[argumentsOf(usage)];
  if (extra === undefined) return undefined;
  const means = WORD_MEANINGS.filter(({ form }) => form.test(extra)).flatMap((one) => one.options);
  const meant = means.find((name) => names.includes(name));
  const hint = meant === undefined ? "" : ` Did you mean ${printable(`${meant} ${shellWord(extra)}`)}?`;
  return `${path} does not take ${quoted(extra)}.${hint}`;
}

/** The names of options among the words, without their values, and the other words; all words after "--" are others. */
function sorted(usage: Usage, words: readonly string[]) {
  const withValue = valueOptions(usage);
  const options: string[] = [];
  const others: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") return { options, others: [...others, ...words.slice(index + 1)] };
    const [name = ""] = word.split("=");
    if (/^-./.test(word)) options.push(name);
    else others.push(word);
    if (withValue.has(name) && !word.includes("=")) index++;
  }
  return { options, others };
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

/** How many arguments the command takes at most. */
function argumentsOf(usage: Usage): number {
  return usage.reduce((sum, term) => {
    if (term.type === "argument") return sum + 1;
    const most = Math.max(0, ...alternatives(term).map(argumentsOf));
    return sum + (term.type === "multiple" && most > 0 ? Number.POSITIVE_INFINITY : most);
  }, 0);
}

/** As it is typed, with what could drive a terminal escaped. */
function quoted(text: string): string {
  return printable(JSON.stringify(text));
}

function printable(text: string): string {
  return replaceUnprintable(text, () => "?");
}
