/** CHANGELOG.md: the changes of each version. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "./packages.ts";

/** The changes of a version, as items without markup. */
export interface Release {
  readonly version: string;
  readonly items: readonly string[];
}

/** Debian's tools warn of longer lines. */
const WIDTH = 76;

/** The versions of the project's CHANGELOG.md, the newest first; unreleased changes are left out. */
export function readChangelog(): readonly Release[] {
  const releases = parseChangelog(readFileSync(join(PROJECT, "CHANGELOG.md"), "utf8"));
  return releases.filter(({ version }) => version !== "Unreleased");
}

/** The versions in the text: a heading `## 1.2.3`, whatever follows it in the line, and the items of its lists. */
export function parseChangelog(text: string): readonly Release[] {
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = "", ...body] = section.split("\n");
      const items = body
        .join("\n")
        .split(/^[-*] /m)
        .slice(1);
      return {
        version: heading.replace(/^\[?v?([^\s\]]+).*$/, "$1"),
        // An item ends where the next heading or an empty line begins.
        items: items.map((item) => plain(item.split(/\n(?:\s*\n|#)/)[0] ?? "")),
      };
    });
}

/** The entry of one version, in the format of deb-changelog(5). */
export function renderDebianEntry({ version, items }: Release, signature: string): string {
  const lines = items.flatMap((item) => wrap(item).map((line, index) => `${index === 0 ? "  * " : "    "}${line}`));
  return `uam (${version}) stable; urgency=medium\n\n${lines.join("\n")}\n\n -- ${signature}\n`;
}

function plain(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

function wrap(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > WIDTH - 4) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
