/** What in src is against the rules. Each finding is a sentence that names the file, what is wrong, and the rule. */

import { withoutFaultPoints } from "../../src/build/fault-points.ts";
import {
  CHECKER,
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
import { codeOf, type Import, importsOf, type Source } from "./source.ts";
import { TESTED_BY } from "./tested-by.ts";

/** All findings; none if src is as it should be. */
export function findings(source: Source): readonly string[] {
  const imports = importsOf(source);
  return [
    ...imports.flatMap((one) => [...wrongPlace(one), ...wrongPackage(one), ...wrongEnding(one)]),
    ...wrongWords(source),
    ...wrongFaultPoints(source),
    ...tooMuch(source),
    ...cycle(source, imports),
    ...WITHOUT_CIRCLES.flatMap((place) => circleOfRooms(place, imports)),
  ];
}

/** What the rules allow and nothing needs any more. */
export function idleRules(source: Source): readonly string[] {
  const imports = importsOf(source);
  const allowed = Object.entries(PLACES).flatMap(([place, rule]) => rule.imports.map((to) => ({ place, to })));
  const idleImports = allowed.filter(
    ({ place, to }) => !imports.some((one) => ruleOf(one.from) === place && covers([to], one.to)),
  );
  const words = WORDS.flatMap(({ name, pattern, allowed: places }) =>
    Object.keys(places).map((place) => ({ name, pattern, place })),
  );
  const idleWords = words.filter(
    ({ pattern, place }) => ![...source].some(([path, text]) => covers([place], path) && pattern.test(codeOf(text))),
  );
  return [
    ...idleImports.map(({ place, to }) => `nothing in ${place} imports ${to}`),
    // The runtimes are told by their own globals alone.
    ...idleWords
      .filter(({ place }) => place !== "runtime")
      .map(({ name, place }) => `nothing in ${place} uses ${name}`),
  ];
}

/**
 * Tests that lie where nobody would look for them: in a folder that src does not have, or elsewhere in their part of src than the file of the
 * same name that they test.
 */
export function misplacedTests(source: Source, tests: Source): readonly string[] {
  const folders = new Set([...source.keys()].flatMap(foldersOf));
  const files = [...source.keys()].map(withoutEnding);
  const imports = importsOf(tests).filter(({ to }) => to.startsWith(SRC));
  return [...tests.keys()].flatMap((path) => {
    const [folder] = foldersOf(path);
    if (folder !== undefined && !folders.has(folder) && !(folder in TESTS_BESIDE))
      return [`test/${path}: src has no folder ${folder}, and no rule names it`];
    const tested = withoutEnding(path);
    if (files.includes(tested)) return [];
    const meant = imports.find(
      ({ from, to }) => from === path && isNamesake(tested, withoutEnding(to.slice(SRC.length))),
    );
    if (meant === undefined) return [];
    const file = meant.to.slice(SRC.length);
    return [`test/${path} is about src/${file}: it belongs to test/${foldersOf(file)[0]}`];
  });
}

/**
 * Files of src that nobody finds the tests of: no test has their name or imports them, and `table` names none; and what is wrong with the
 * table: places that need no entry, and tests that there are not or that cannot reach a file that they are named for.
 */
export function unnamedSources(source: Source, tests: Source, table = TESTED_BY): readonly string[] {
  const imported = new Set(importsOf(tests).map(({ to }) => to));
  const namesakes = new Set([...tests.keys()].map(withoutEnding));
  const known = (path: string) => namesakes.has(withoutEnding(path)) || imported.has(`${SRC}${path}`);
  const needed = Map.groupBy(
    [...source.keys()].filter((path) => !known(path) && !path.endsWith(".d.ts")),
    (path) => longestOf(Object.keys(table), path) ?? "",
  );
  return [
    ...(needed.get("") ?? []).map((path) => `src/${path}: no test has its name or imports it, and TESTED_BY has none`),
    ...Object.entries(table).flatMap(([place, paths]) => [
      ...(needed.has(place) ? [] : [`TESTED_BY: ${place} needs no entry`]),
      ...paths.filter((path) => !tests.has(path)).map((path) => `TESTED_BY: ${place}: there is no test/${path}`),
    ]),
  ];
}

/** Tests of a page that look at it once, where what they look for may still be on its way: soon() (console/support/browser.ts) waits for it. */
export function glances(tests: Source): readonly string[] {
  const look =
    /(?<!=>\s+)\bexpect\(\s*await (?:[^;]*?\.)?(count|isVisible|isChecked|innerText|textContent|inputValue|getAttribute|focusedName|all\w+s)\(/g;
  return [...tests]
    .filter(([path]) => path.endsWith(".browser.test.ts"))
    .flatMap(([path, text]) =>
      [...text.matchAll(look)].map(([, name]) => `test/${path}: ${name}() belongs into soon()`),
    );
}

/** What the checker of histories imports that is neither its own, nor the file's format, nor the runtime's. */
export function foreignImports(checker: Source): readonly string[] {
  const { folder, imports } = CHECKER;
  return importsOf(checker)
    .filter(({ isOwn, to }) => (isOwn ? !covers([folder, ...imports], to) : !/^(?:node|bun):/.test(to)))
    .map((one) => `${show(one)}: the checker of histories may import ${listOf(imports)}`);
}

/** The beginning of what tests import of src. */
const SRC = "../src/";

/** Whether both have the same name and lie in the same part of src. */
function isNamesake(one: string, other: string): boolean {
  const [first = "", second = ""] = [one, other].map((path) => path.slice(path.lastIndexOf("/") + 1));
  return one.split("/")[0] === other.split("/")[0] && first === second;
}

/** The folders in which a file lies, the innermost first. */
function foldersOf(path: string): readonly string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, parts.length - index).join("/"));
}

function withoutEnding(path: string): string {
  return path.replace(/(?:\.(?:host|browser))?(?:\.test)?\.tsx?$/, "");
}

function wrongPlace(one: Import): readonly string[] {
  if (!one.isOwn) return [];
  const place = ruleOf(one.from);
  if (place === undefined) return [`${show(one)}: no rule covers ${one.from}`];
  const allowed = PLACES[place]?.imports ?? [];
  if (ruleOf(one.to) === place || covers([...allowed, FOR_ALL], one.to)) return [];
  return [`${show(one)}: ${place} may import ${listOf([...allowed, FOR_ALL])}`];
}

function wrongPackage(one: Import): readonly string[] {
  const name = one.isOwn ? undefined : Object.keys(PACKAGES).find((known) => isOf(known, one.to));
  const allowed = name === undefined ? undefined : PACKAGES[name];
  if (name === undefined || allowed === undefined || covers(allowed, one.from)) return [];
  return [`${show(one)}: the package ${name} belongs to ${listOf(allowed)}`];
}

function wrongEnding(one: Import): readonly string[] {
  if (!one.isOwn || /\.(?:tsx?|css|sql|json)$/.test(one.to)) return [];
  return [`${show(one)}: the name has no ending, so that not every runtime finds the file`];
}

function wrongWords(source: Source): readonly string[] {
  return [...source].flatMap(([path, text]) => {
    const code = codeOf(text);
    const wrong = WORDS.filter(({ pattern, allowed }) => pattern.test(code) && !covers(Object.keys(allowed), path));
    return wrong.map(
      ({ name, pattern, allowed }) =>
        `${path}: ${JSON.stringify(pattern.exec(code)?.[0])} is ${name}; only ${listOf(Object.keys(allowed))} may`,
    );
  });
}

/** What the build leaves out of the binary is recognized by its line: a call in any other form would stay in. */
function wrongFaultPoints(source: Source): readonly string[] {
  return [...source].flatMap(([path, text]) => {
    if (path === "shared/work/fault-point.ts") return [];
    const wrong = withoutFaultPoints(text)
      .split("\n")
      .filter((line) => /\bfaultPoint\b|fault-point/.test(line));
    return path.startsWith("build/")
      ? []
      : wrong.map((line) => `${path}: ${JSON.stringify(line.trim())} is no fault point that the build leaves out`);
  });
}

function tooMuch(source: Source): readonly string[] {
  const long = [...source].map(([path, text]) => ({ path, lines: linesOf(text) })).filter((f) => f.lines > MAX_LINES);
  const entries = entriesOf(source);
  const functions = functionsOf(source).filter(({ lines }) => lines > MAX_FUNCTION);
  const rooms = [...roomsOf(source)].filter(([, files]) => files > MAX_FILES);
  return [
    ...long.map(({ path, lines }) => `${path} has ${lines} lines; the most is ${MAX_LINES}`),
    ...(entries.length > MAX_ENTRIES ? [`src has ${entries.length} entries; the most is ${MAX_ENTRIES}`] : []),
    ...rooms.map(([room, files]) => `${room} has ${files} files; the most is ${MAX_FILES}`),
    ...functions.map(({ name, lines }) => `${name} has ${lines} lines; the most is ${MAX_FUNCTION}`),
  ];
}

const FUNCTIONS = [
  /^(\s*)(?:export )?(?:default )?(?:async )?function\*? (\w+)/,
  /^(\s*)(?:export )?const (\w+)\b.*=> \{$/,
  /^(\s+)(?!(?:if|for|while|switch|catch)\b)(?:(?:async|static|get) )*(#?\w+)\((?!.*=> \{$).*\)(?:: .*)? \{$/,
];

/** The functions and their lines, the longest first, by the formatter's layout: one ends with the brace below its beginning. */
export function functionsOf(source: Source): readonly { readonly name: string; readonly lines: number }[] {
  const found = [...source].flatMap(([path, text]) => {
    const lines = text.split("\n");
    return lines.flatMap((line, begin) => {
      const [, indent = "", name] =
        FUNCTIONS.map((pattern) => pattern.exec(line)).find((match) => match !== null) ?? [];
      const end = lines.findIndex((each, index) => index > begin && ENDS.some((brace) => each === `${indent}${brace}`));
      return name === undefined || end < 0 ? [] : [{ name: `${path}: ${name}()`, lines: end - begin + 1 }];
    });
  });
  return found.sort((one, other) => other.lines - one.lines);
}

const ENDS = ["}", "};", "},"];

function cycle(source: Source, imports: readonly Import[]): readonly string[] {
  const found = findCycle(imports.filter(({ to }) => source.has(to)));
  return found.length === 0 ? [] : [`${found.join(" -> ")}: a cycle, types included`];
}

function circleOfRooms(place: string, imports: readonly Import[]): readonly string[] {
  const edges = imports
    .map(({ from, to }) => ({ from: roomIn(place, from), to: roomIn(place, to) }))
    .filter(({ from, to }) => from !== undefined && to !== undefined && from !== to);
  const found = findCycle(edges as { from: string; to: string }[]);
  return found.length === 0 ? [] : [`${found.join(" -> ")}: a circle of folders, types included`];
}

/** The folder directly below `place` in which the file lies. */
function roomIn(place: string, path: string): string | undefined {
  const [room, ...rest] = path.startsWith(`${place}/`) ? path.slice(place.length + 1).split("/") : [];
  return room === undefined || rest.length === 0 ? undefined : `${place}/${room}`;
}

/** How many files lie in each folder. */
export function roomsOf(source: Source): ReadonlyMap<string, number> {
  const rooms = Map.groupBy(source.keys(), (path) => path.slice(0, Math.max(0, path.lastIndexOf("/"))));
  return new Map([...rooms].map(([room, files]) => [room, files.length]));
}

/** The files of one cycle, the first of them again at the end; or none. */
export function findCycle(edges: readonly Pick<Import, "from" | "to">[]): readonly string[] {
  const done = new Set<string>();
  function visit(file: string, path: readonly string[]): readonly string[] {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const { from, to } of edges) {
      if (from !== file) continue;
      const found = visit(to, [...path, file]);
      if (found.length > 0) return found;
    }
    done.add(file);
    return [];
  }
  for (const { from } of edges) {
    const found = visit(from, []);
    if (found.length > 0) return found;
  }
  return [];
}

/** What lies in src itself. */
export function entriesOf(source: Source): readonly string[] {
  return [...new Set([...source.keys()].map((path) => path.split("/")[0] ?? path))];
}

export function linesOf(text: string): number {
  return text.split("\n").length - 1;
}

/** The longest name among the places that covers the file. */
function ruleOf(path: string): string | undefined {
  return longestOf(Object.keys(PLACES), path);
}

function longestOf(places: readonly string[], path: string): string | undefined {
  return places.filter((place) => covers([place], path)).sort((a, b) => b.length - a.length)[0];
}

/** Whether one of the places is the file or a folder above it. */
function covers(places: readonly string[], path: string): boolean {
  const plain = path.replace(/^\.\.\//, "");
  return places.some((place) => plain === place || plain.startsWith(`${place}/`));
}

function isOf(name: string, to: string): boolean {
  return to === name || to.startsWith(`${name}/`);
}

function listOf(places: readonly string[]): string {
  return places.join(", ");
}

function show({ from, to, isType }: Import): string {
  return `${from} -> ${to}${isType ? " (types)" : ""}`;
}
