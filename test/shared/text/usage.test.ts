import { describe, expect, test } from "bun:test";
import { fillUsage, usageLines } from "../../../src/shared/text/usage.ts";

describe("usageLines()", () => {
  test("ends a line between arguments, and never within brackets", () => {
    const usage = "uam key confirm [--all] [--reason TEXT] (--days DAYS | --until TIME) NAME";
    expect(usageLines(usage, 30)).toEqual([
      "uam key confirm [--all]",
      "[--reason TEXT]",
      "(--days DAYS | --until TIME)",
      "NAME",
    ]);
    expect(usageLines("uam x (a | bb", 5)).toEqual(["uam x", "(a | bb"]);
  });
});

describe("fillUsage()", () => {
  test("fills the usage anew where a line ended within brackets, and leaves the rest", () => {
    const help =
      "Brief.\nUsage: uam user extend [--supervisor NAME] [\n       --reason TEXT] [NAME...]\n\nText [\n  x].\n";
    expect(fillUsage(help, 52)).toBe(
      "Brief.\nUsage: uam user extend [--supervisor NAME]\n       [--reason TEXT] [NAME...]\n\nText [\n  x].\n",
    );
    const two = "Usage: uam access --at TIME\n       uam access allow NAME\n";
    expect(fillUsage(two, 52)).toBe(two);
    expect(fillUsage("no usage", 40)).toBe("no usage");
  });
});
