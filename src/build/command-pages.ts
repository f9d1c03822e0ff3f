/** The help of the command line as data: the manual page and docs/cli.md are generated from it. */

import type { DocPage } from "@optique/core/doc";
import { formatMessage, type Message } from "@optique/core/message";
import { getDocPageSync } from "@optique/core/parser";
import { formatUsage, formatUsageTerm } from "@optique/core/usage";
import { commands } from "../cli/commands.ts";

/** One command, as its help shows it. */
export interface CommandPage {
  /** The words after `uam`. */
  readonly path: readonly string[];
  readonly usage: string;
  readonly brief: string;
  /** The text that `--help` adds to the brief; "" if it adds nothing. */
  readonly description: string;
  readonly entries: readonly { readonly term: string; readonly meaning: string }[];
}

/** All commands that do something, under the headings of `uam --help` and in its order. Hidden ones are left out. */
export function commandPages(): ReadonlyMap<string, readonly CommandPage[]> {
  const groups = new Map<string, readonly CommandPage[]>();
  for (const { title = "Commands", entries } of requirePage([]).sections) {
    const names = entries.flatMap(({ term }) => (term.type === "command" ? [term.name] : []));
    groups.set(
      title,
      names.flatMap((name) => pagesBelow([name])),
    );
  }
  return groups;
}

function pagesBelow(path: readonly string[]): readonly CommandPage[] {
  const page = requirePage(path);
  const entries = page.sections.flatMap((section) => section.entries);
  const inner = entries.flatMap(({ term }) => (term.type === "command" ? [term.name] : []));
  if (inner.length > 0) return inner.flatMap((name) => pagesBelow([...path, name]));
  const brief = plain(page.brief);
  return [
    {
      path,
      usage: formatUsage("uam", page.usage ?? []),
      brief,
      description: plain(page.description).replace(/:$/, "."),
      entries: entries.map(({ term, description }) => ({
        term: formatUsageTerm(term, { optionsSeparator: ", " }),
        meaning: plain(description),
      })),
    },
  ];
}

function requirePage(path: readonly string[]): DocPage {
  const page = getDocPageSync(commands, path);
  if (page === undefined) throw new Error(`uam ${path.join(" ")} has no help`);
  return page;
}

function plain(message: Message | undefined): string {
  return message === undefined ? "" : formatMessage(message, { quotes: false }).replace(/\s+/g, " ").trim();
}
