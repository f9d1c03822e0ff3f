import { expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { documentText } from "../support/documents.ts";
import { MOST, PICTURES, PLACE, SCHEMES } from "./support/picture-list.ts";

const NAMES = Object.keys(PICTURES).flatMap((name) => SCHEMES.map((scheme) => `${name}-${scheme}.webp`));

test("each picture is there, none is left over, and together they are small", () => {
  expect(readdirSync(PLACE).sort()).toEqual([...NAMES].sort());
  const sizes = NAMES.map((name) => statSync(join(PLACE, name)).size);
  expect(Math.min(...sizes)).toBeGreaterThan(5000);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST);
});

test("docs/console.md shows each view, and every picture that a document names is there", () => {
  for (const name of Object.keys(PICTURES))
    expect(documentText("docs/console.md")).toContain(`pictures/${name}-light.webp`);
  for (const [path, root] of [
    ["docs/console.md", "docs"],
    ["README.md", "."],
  ] as const) {
    for (const [, source = ""] of documentText(path).matchAll(/src(?:set)?="([^"]+)"/g)) {
      expect([source, existsSync(join(PLACE, "../..", root, source))]).toEqual([source, true]);
    }
  }
});
