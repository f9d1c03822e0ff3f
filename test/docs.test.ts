/** The documents: every command has a place where it is run, and what they name is there. */

import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { Glob } from "bun";
import manifest from "../package.json" with { type: "json" };
import { ITEM, PROSE_WIDTH } from "../src/build/prose.ts";
import { readConfig } from "../src/config/config.ts";
import { BLOCKS, commandsUnder, documentPaths, documentText, shellBlocks } from "./support/documents.ts";

const PROJECT = join(import.meta.dir, "..");
const DOCUMENTS = documentPaths();

describe("commands in documents", () => {
  test.each(DOCUMENTS)("%s: each block is run somewhere, or it is said why not", (path) => {
    const blocks = shellBlocks(path);
    expect(BLOCKS[path]?.length ?? 0).toBe(blocks.length);
    for (const run of BLOCKS[path] ?? []) {
      if (run !== "here" && "by" in run) expect([run.by, existsSync(join(PROJECT, run.by))]).toEqual([run.by, true]);
    }
  });

  test("no list is for a document that is gone", () => {
    for (const path of Object.keys(BLOCKS)) expect(DOCUMENTS).toContain(path);
  });

  test.each([
    ["docs/backup.md", 3, "test/debian/direct.ts"],
    ["docs/repair.md", 6, "test/debian/key-place.ts"],
  ])("%s, block %i: its commands are in %s", (path, index, by) => {
    const commands = (shellBlocks(path)[index] ?? "").split("\n").map((line) => line.replace(/\s*#.*| \/\S+$/g, ""));
    for (const command of commands.filter((line) => line !== "")) {
      expect(documentText(by)).toContain(command.trim());
    }
  });
});

describe("lines", () => {
  test.each(DOCUMENTS)("%s: none is longer than 100 characters, but for rows of tables and long words", (path) => {
    // Nothing can break a row; a heading that names a command is the command's own length.
    const isWhole = (line: string) => /^(?:\||#)/.test(line) || !/\S\s+\S/.test(line.replace(ITEM, ""));
    const long = documentText(path)
      .split("\n")
      .filter((line) => line.length > PROSE_WIDTH && !isWhole(line));
    expect([path, long]).toEqual([path, []]);
  });
});

describe("contents", () => {
  /** Lines; more are more than a screen. */
  const SCREEN = 60;
  const long = DOCUMENTS.filter(
    (path) =>
      /^docs\/[^/]+$/.test(path) &&
      !documentText(path).startsWith("<!-- Generated") &&
      documentText(path).split("\n").length > SCREEN,
  );

  test.each(long)("%s begins with a list of its sections, in their order", (path) => {
    const [head = "", ...sections] = documentText(path)
      .replace(/^```.*?^```$/gms, "")
      .split(/^## /m);
    const headings = sections.map((section) => section.split("\n")[0] ?? "");
    const listed = [...head.matchAll(/^- .*(?:\n {2}.*)*/gm)].flatMap(([item]) => item.match(/#[^)\s]+(?=\))/g) ?? []);
    const anchors = headings.map((heading) => `#${anchorOf(heading)}`);
    expect([path, listed.filter((anchor) => anchors.includes(anchor))]).toEqual([path, anchors]);
  });
});

describe("what documents name", () => {
  test.each(DOCUMENTS)("%s: links lead somewhere", (path) => {
    for (const [, target = ""] of documentText(path).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [file = "", anchor] = target.split("#");
      const linked = file === "" ? path : normalize(join(dirname(path), file));
      expect([target, existsSync(join(PROJECT, linked))]).toEqual([target, true]);
      if (anchor !== undefined) expect([target, anchorsOf(linked).has(anchor)]).toEqual([target, true]);
    }
  });

  test.each(DOCUMENTS)("%s: files of the project are there", (path) => {
    for (const [, name = ""] of documentText(path).matchAll(/`((?:src|test|drizzle|docs)\/[^\s`]*)`/g)) {
      // A name that is still to be given has capitals, or a gap.
      if (/[A-Z]{4}|…/.test(name)) continue;
      const found = [...new Glob(name.replace(/\/$/, "")).scanSync({ cwd: PROJECT, onlyFiles: false })];
      expect([name, found.length > 0]).toEqual([name, true]);
    }
  });
});

describe("docs/first-day.md", () => {
  test("its settings are what the service takes, and its installation is the README's", () => {
    const [, settings = ""] = /^```ini\n(.*?)^```$/ms.exec(documentText("docs/first-day.md")) ?? [];
    const environment = Object.fromEntries(
      settings
        .trim()
        .split("\n")
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    );
    const { baseUrl, trustedProxies } = readConfig(environment, { isRoot: true, currentDirectory: "/" });
    expect([baseUrl, trustedProxies]).toEqual(["https://uam.example.org", ["unix"]]);
    const readme = commandsUnder("README.md", "Install on a host");
    for (const heading of ["1. Install", "3. Start"]) {
      expect(readme).toEqual(expect.arrayContaining([...commandsUnder("docs/first-day.md", heading)]));
    }
  });
});

describe("README.md", () => {
  test("fits on two pages", () => {
    expect(documentText("README.md").split("\n").length).toBeLessThanOrEqual(151);
  });
});

describe("docs/security.md", () => {
  test("each guarantee names the test that shows it", () => {
    const rows = documentText("docs/security.md")
      .split("\n| guarantee | shown by |\n")
      .slice(1)
      .flatMap((table) => (table.split("\n\n")[0] ?? "").split("\n").slice(1));
    expect(rows.length).toBeGreaterThan(40);
    for (const row of rows) expect(row).toMatch(/\| `test\/[^`]+`(?: "[^"|]+")?(?:, `test\/[^`]+`(?: "[^"|]+")?)* \|$/);
  });

  test("each test that is named is there", () => {
    const named = [...documentText("docs/security.md").matchAll(/`(test\/[^`]+)` "([^"|]+)"/g)];
    expect(named.length).toBeGreaterThan(10);
    for (const [, path = "", name = ""] of named) {
      const isThere =
        existsSync(join(PROJECT, path)) && testNames(documentText(path)).some((each) => each.includes(name));
      expect([path, name, isThere]).toEqual([path, name, true]);
    }
  });

  test("each file that is named tests something", () => {
    const named = [...documentText("docs/security.md").matchAll(/`(test\/[^`*]+\.test\.tsx?)`/g)].map(
      ([, path = ""]) => path,
    );
    for (const path of new Set(named)) expect([path, testNames(documentText(path)).length > 0]).toEqual([path, true]);
  });

  test("no guarantee is there twice", () => {
    const guarantees = documentText("docs/security.md").matchAll(/^\| ([^|]+) \| `test\//gm);
    const texts = [...guarantees].map(([, text]) => text);
    expect(texts.length).toBe(new Set(texts).size);
  });
});

describe("docs/decisions/packages.md", () => {
  test("says what each dependency is for, and names none that is gone", () => {
    const { dependencies, optionalDependencies, devDependencies } = manifest;
    const named = [...documentText("docs/decisions/packages.md").matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ""),
    );
    const used = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies });
    const isNamed = (name: string) =>
      named.some((pattern) => new Glob(pattern).match(name)) || /^@types\/pg/.test(name);
    expect(used.filter((name) => !isNamed(name))).toEqual([]);
    expect(named.filter((pattern) => !used.some((name) => new Glob(pattern).match(name)))).toEqual(
      ["@elysiajs/cookie"].filter((name) => named.includes(name)),
    );
  });
});

/** The names of the tests in a file, as they are written there; one that is skipped shows nothing. */
function testNames(source: string): readonly string[] {
  const calls = source.matchAll(
    /\b(?:test|testSlow|it)(?:\.(?!skip|todo)\w+)*(?:\((?:[^()]|\([^()]*\))*\))*\(\s*(?:"([^"]+)"|`([^`]+)`)/g,
  );
  return [...calls].map(([, plain, made]) => plain ?? made ?? "");
}

/** The anchors that Markdown gives a document's headings. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = documentText(path)
    .replace(/^```.*?^```$/gms, "")
    .matchAll(/^#+ (.*)$/gm);
  return new Set([...headings].map(([, heading = ""]) => anchorOf(heading)));
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}
