import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { csvCell, unguarded } from "../../../src/shared/text/csv-cell.ts";
import { parseCsv } from "../../support/csv.ts";

/** The text that a reader of RFC 4180 finds in the cell. */
function read(value: string): string {
  const [[text = ""] = []] = parseCsv(`${csvCell(value)}\r\n`);
  return text;
}

describe("csvCell()", () => {
  test.each([
    ["alice", "alice"],
    ["", ""],
    ['say "hi", ok', 'say "hi", ok'],
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@sum", "'@sum"],
    ["\tx", "'\tx"],
    ["\rx", "'\rx"],
    ["＝1+1", "'＝1+1"],
    ["'=1", "''=1"],
    ["'s Gravenhage", "''s Gravenhage"],
    ["O'Neill", "O'Neill"],
    ["a=1", "a=1"],
    // Spreadsheets of many countries separate cells there, and know no quotes within a line.
    ["x;=1+1;y", "x;'=1+1;y"],
    ['x; "" @sum', `x; "" '@sum`],
    ["a;'b", "a;''b"],
    ["two\nlines\n-1", "two\nlines\n'-1"],
  ])("writes %j so that it reads %j, and unguarded() gives it back", (value, text) => {
    expect(read(value)).toBe(text);
    expect(unguarded(text)).toBe(value);
  });

  const pieces = fc.constantFrom(..."=+-@＝＋－＠\t\r\n;,\"' a", "''", ";'", ';"');
  test("is read back exactly, whatever is written", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(pieces).map((list) => list.join("")),
        ),
        (value) => {
          expect(unguarded(read(value))).toBe(value);
        },
      ),
      { numRuns: 5000 },
    );
  });

  test("begins no formula, wherever a spreadsheet begins a cell", () => {
    fc.assert(
      fc.property(
        fc.array(pieces).map((list) => list.join("")),
        (value) => {
          const [first = "", ...later] = read(value).split(/[;\t\r\n]/);
          // Quotes that stand alone in a line are no part of a cell.
          const cells = [first, ...later.map((cell) => cell.replace(/^[\s"]+/, ""))];
          for (const cell of cells) expect(cell).not.toMatch(/^[=+@＝＋－＠-]/);
        },
      ),
      { numRuns: 5000 },
    );
  });
});

describe("unguarded()", () => {
  test.each(["'quoted'", "it's", "a ' b", "'"])("leaves %j alone, which nothing has guarded", (text) => {
    expect(unguarded(text)).toBe(text);
  });
});
