import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type CsvRecord, csvRecords, type Separator, separatorOf } from "../../../src/shared/text/csv.ts";

const read = (text: string, separator: Separator = ",") => [...csvRecords(text, separator)];
const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`;

describe("csvRecords", () => {
  test.each(["\n", "\r\n", "\r"])("reads what is written with the line end %j", (end) => {
    const text = ["\uFEFFusername,note", 'alice,"a, ""b"""', "", "bo,"].join(end);
    expect(read(text)).toEqual([
      { line: 1, values: ["username", "note"] },
      { line: 2, values: ["alice", 'a, "b"'] },
      { line: 4, values: ["bo", ""] },
    ]);
  });

  test("counts the lines of the file, also those within values", () => {
    expect(read('a\n"b\r\nb\nb"\n\n\nc\n').map(({ line }) => line)).toEqual([1, 2, 7]);
  });

  test.each([
    ['a"b,c', "in the middle"],
    ['"a"b,c', "follows a closing"],
    ['x,"a', "never closed"],
    [",".repeat(100), "more than 100"],
  ])("says what is wrong with the record %j", (record, fault) => {
    const [first, second] = read(`head\n${record}`);
    expect(first).toEqual({ line: 1, values: ["head"] });
    expect(second).toEqual({ line: 2, fault: expect.stringContaining(fault) });
  });

  test("goes on with the line after a broken record", () => {
    const lines = read('a"b,c\nd,"e"f\r\ng,h\n');
    expect(lines.map((record) => "fault" in record)).toEqual([true, true, false]);
    expect(lines[2]).toEqual({ line: 3, values: ["g", "h"] });
  });

  test("reads back any table, with every separator and line end", () => {
    const value = fc.string({ unit: fc.constantFrom("a", "é", "'", '"', ",", ";", "\t", "\r", "\n", " ", "=", "😀") });
    const table = fc.array(fc.array(value, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 8 });
    const separator = fc.constantFrom<Separator>(",", ";", "\t");
    fc.assert(
      fc.property(table, separator, fc.constantFrom("\n", "\r\n", "\r"), (rows, between, end) => {
        const text = rows.map((row) => row.map(quoted).join(between)).join(end);
        const values = read(text, between).map((record) => ("values" in record ? record.values : record.fault));
        expect(values).toEqual(rows);
      }),
    );
  });

  test("ends for any text, with lines that rise", () => {
    const text = fc.string({ unit: fc.constantFrom("a", '"', ",", "\r", "\n", "\uFEFF") });
    fc.assert(
      fc.property(text, (given) => {
        const lines = read(given).map((record: CsvRecord) => record.line);
        expect(lines).toEqual([...new Set(lines)].toSorted((one, other) => one - other));
      }),
    );
  });
});

describe("separatorOf", () => {
  test.each([
    ["a,b;c,d", ","],
    ["a;b;c,d", ";"],
    ["a\tb\tc,d", "\t"],
    ['"x;y;z",b', ","],
    ["username", ","],
    ["", ","],
  ])("of the header %j is %j", (header, separator) => {
    expect(separatorOf(`\uFEFF${header}\r\na;b;c;d`)).toBe(separator as Separator);
  });
});
