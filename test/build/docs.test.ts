/** The documents generated from the program are those in the repository. */

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commandPages } from "../../src/build/command-pages.ts";
import { generatedDocs, writtenDocs } from "../../src/build/docs.ts";
import { PROJECT } from "../../src/build/packages.ts";

describe("generatedDocs()", () => {
  test.each([...generatedDocs()])("%s is up to date; else run: bun run docs", (path, text) => {
    expect(readFileSync(join(PROJECT, path), "utf8")).toBe(text);
  });
});

describe("writtenDocs()", () => {
  test.each([...writtenDocs()])("%s has no line of prose that is too long; else run: bun run docs", (path, text) => {
    expect(readFileSync(join(PROJECT, path), "utf8")).toBe(text);
  });
});

describe("commandPages()", () => {
  test("has each command once, without those that are hidden, and explains each of its arguments", () => {
    const pages = [...commandPages().values()].flat();
    const names = pages.map(({ path }) => path.join(" "));
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain("user create");
    expect(names).not.toContain("sweep");
    for (const { path, brief, entries } of pages) {
      expect([path, brief]).not.toEqual([path, ""]);
      for (const { term, meaning } of entries) expect([path, term, meaning]).not.toEqual([path, term, ""]);
    }
  });
});
