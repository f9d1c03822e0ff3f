/** `bun run structure`, a part of `bun run check`: prints the rules of the structure, and fails with what is against them. */

import {
  entriesOf,
  findings,
  foreignImports,
  functionsOf,
  glances,
  idleRules,
  linesOf,
  misplacedTests,
  roomsOf,
  unnamedSources,
} from "./findings.ts";
import {
  FOR_ALL,
  MAX_ENTRIES,
  MAX_FILES,
  MAX_FUNCTION,
  MAX_LINES,
  PACKAGES,
  PLACES,
  TESTS_BESIDE,
  WITHOUT_CIRCLES,
  WORDS,
} from "./rules.ts";
import { importsOf, readChecker, readSource, readTests } from "./source.ts";

const source = readSource();
const longest = Math.max(...[...source.values()].map(linesOf));
const functions = functionsOf(source);
const fullest = Math.max(...roomsOf(source).values());

console.log(`Who may import whom in src, types included; every place may import ${FOR_ALL}
${rows(PLACES, ({ what, imports }) => `${what}\n-> ${imports.join(", ") || "nothing else"}`)}

Packages that belong to a place
${rows(PACKAGES, (places) => places.join(", "))}

What only some files may name, or is written once
${WORDS.map(({ name, allowed }) => `  ${name}\n${rows(allowed, (why) => why, "    ")}`).join("\n")}

Tests lie in the folders of src, and in
${rows(TESTS_BESIDE, (why) => why)}
Each file of src has a test of its name, or one that imports it, or an entry in test/structure/tested-by.ts.
What a page shows is expected in soon(), which waits for it.

Sizes
  A function has at most ${MAX_FUNCTION} lines (now ${functions[0]?.lines}), half of them ${functions[Math.floor(functions.length / 2)]?.lines} or fewer.
  src has at most ${MAX_ENTRIES} entries (now ${entriesOf(source).length}), a file at most ${MAX_LINES} lines (now ${longest}), a folder at most ${MAX_FILES} files (now ${fullest}).
  No files import each other in a circle, nor do the folders of ${WITHOUT_CIRCLES.join(", ")}.

The rules are test/structure/rules.ts.`);

const wrong = [
  ...findings(source),
  ...misplacedTests(source, readTests()),
  ...unnamedSources(source, readTests()),
  ...glances(readTests()),
  ...foreignImports(readChecker()),
  ...idleRules(source).map((idle) => `The rules allow too much: ${idle}`),
];
if (wrong.length === 0) {
  console.log(`All ${source.size} files and ${importsOf(source).length} imports keep them.`);
} else {
  console.error(`\n${wrong.join("\n")}`);
  process.exitCode = 1;
}

/** A line for each name, what is said of it in a column beside. */
function rows<T>(table: Readonly<Record<string, T>>, say: (value: T) => string, indent = "  "): string {
  const width = Math.max(...Object.keys(table).map((name) => name.length)) + 2;
  return Object.entries(table)
    .flatMap(([name, value]) => {
      const [first = "", ...more] = say(value).split("\n");
      return [`${name.padEnd(width)}${first}`, ...more.map((line) => `${"".padEnd(width)}${line}`)];
    })
    .map((line) => `${indent}${line}`)
    .join("\n");
}
