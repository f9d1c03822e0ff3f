import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { parseChangelog, readChangelog, renderDebianEntry } from "../../src/build/changelog.ts";
import { PROJECT } from "../../src/build/packages.ts";

describe("CHANGELOG.md", () => {
  test("begins with the version of package.json, and every version lists its changes", () => {
    const releases = readChangelog();
    expect(releases[0]?.version).toBe(manifest.version);
    for (const { items } of releases) expect(items.length).toBeGreaterThan(0);
  });
});

describe("LICENSE", () => {
  test("is the licence that package.json names", () => {
    expect(readFileSync(join(PROJECT, "LICENSE"), "utf8")).toStartWith(`${manifest.license} License\n\nCopyright (c) `);
  });
});

describe("parseChangelog()", () => {
  test("reads versions and their items, without markup", () => {
    const text = `# Changelog

## [1.2.0] - 2026-11-22

What changed.

### Added

- \`uam x\` does
  **y**, see [here](https://example.org).
- z

### Fixed

* w

## v1.1.0

- first
`;
    expect(parseChangelog(text)).toEqual([
      { version: "1.2.0", items: ["uam x does y, see here.", "z", "w"] },
      { version: "1.1.0", items: ["first"] },
    ]);
  });
});

describe("renderDebianEntry()", () => {
  test("wraps what Debian's tools would warn of", () => {
    const text = renderDebianEntry({ version: "1.0.0", items: ["word ".repeat(40).trim(), "b"] }, "A <a@b>  today");
    expect(text).toMatch(/^uam \(1\.0\.0\) stable; urgency=medium\n\n {2}\* word /);
    expect(text).toEndWith("\n  * b\n\n -- A <a@b>  today\n");
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });
});
