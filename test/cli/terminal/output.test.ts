import { describe, expect, test } from "bun:test";
import { printJson, printRecord, printTable, shortTime, visible } from "../../../src/cli/terminal/output.ts";
import { counted } from "../../../src/shared/text/counted.ts";

async function capture(
  work: (writer: {
    out: (text: string) => void;
    err: (text: string) => void;
    columns: number | undefined;
  }) => void | Promise<void>,
  columns?: number,
) {
  let text = "";
  const out = (more: string) => {
    text += more;
  };
  await work({ out, err: out, columns });
  return text;
}

describe("visible()", () => {
  test("escapes what could drive a terminal", () => {
    expect(visible("a\u001b[31mb\u009bc\u007f\r\n\t")).toBe("a\\x1b[31mb\\x9bc\\x7f\\x0d\\x0a\\x09");
    expect(visible("left\u202eright\u2066\u200b\u2028")).toBe("left\\u202eright\\u2066\\u200b\\u2028");
    expect(visible("\ud800")).toBe("\\ud800");
  });

  test("leaves text of any script as it is", () => {
    expect(visible("Ünïcode 漢字 🙂 e\u0301")).toBe("Ünïcode 漢字 🙂 e\u0301");
  });
});

describe("printTable()", () => {
  const columns = [
    { header: "ID", value: (row: readonly [number, string]) => row[0] },
    { header: "NAME", value: (row: readonly [number, string]) => row[1], narrow: "cut" },
    { header: "END", value: () => "." },
  ] as const;

  test("aligns wide characters and leaves no blanks at the end", async () => {
    const rows = [
      [1, "漢字"],
      [20, "abcde"],
    ] as const;
    expect(await capture((writer) => printTable(writer, columns, rows))).toBe(
      "ID  NAME   END\n1   漢字   .\n20  abcde  .\n",
    );
  });

  test("cuts to the terminal's width at whole characters", async () => {
    const text = await capture((writer) => printTable(writer, columns, [[1, "漢".repeat(20)]]), 20);
    expect(text.split("\n")[1]).toBe("1   漢漢漢漢漢…  .");
  });

  test("counts columns, not characters, and cuts none in two", async () => {
    const names = ["abc", "漢字", "🙂", "e\u0301", "한글", "👨", "ﾊﾝ", "🇩🇪", "❤\ufe0f"];
    const lines = (
      await capture((writer) =>
        printTable(
          writer,
          columns,
          names.map((name) => [1, name]),
        ),
      )
    ).split("\n");
    expect(lines.slice(1, -1).map((line) => line.slice(4))).toEqual([
      ...["abc   .", "漢字  .", "🙂    .", "e\u0301     .", "한글  .", "👨    .", "ﾊﾝ    .", "🇩🇪    .", "❤\ufe0f    ."],
    ]);
    const cut = await capture((writer) => printTable(writer, columns, [[1, "e\u0301".repeat(20)]]), 20);
    expect(cut.split("\n")[1]).toBe(`1   ${"e\u0301".repeat(10)}…  .`);
  });

  test("leaves out columns from the right before it cuts others too short to be read, and says which", async () => {
    const wide = [
      { header: "A", value: () => "a".repeat(20), narrow: "cut" },
      { header: "B", value: () => "b".repeat(20), narrow: "either" },
      { header: "C", value: () => "c".repeat(5), narrow: "drop" },
      { header: "D", value: () => "d".repeat(5) },
    ] as const;
    const at = async (width: number) => (await capture((writer) => printTable(writer, wide, [0]), width)).split("\n");
    expect((await at(56))[1]).toBe(`${"a".repeat(20)}  ${"b".repeat(20)}  ccccc  ddddd`);
    expect((await at(44))[1]).toBe(`${"a".repeat(13)}…  ${"b".repeat(13)}…  ccccc  ddddd`);
    expect(await at(43)).toEqual([
      "A                  B                  D",
      `${"a".repeat(16)}…  ${"b".repeat(16)}…  ddddd`,
      "The terminal is too narrow for C; --json has everything.",
      "",
    ]);
    expect((await at(30))[1]).toBe(`${"a".repeat(20)}  ddddd`);
    expect((await at(30))[2]).toContain("narrow for B, C;");
    expect((await at(10))[1]).toBe("aaaaaaa…  ddddd");
  });

  test("puts what would be cut too short on a line of its own", async () => {
    const wide = [
      { header: "A", value: () => "a".repeat(10) },
      { header: "B", value: (row: string) => row, narrow: "below" },
      { header: "C", value: () => "ccc", narrow: "drop" },
    ] as const;
    const at = async (width?: number) =>
      (await capture((writer) => printTable(writer, wide, ["b".repeat(20), "漢".repeat(15)]), width)).split("\n");
    expect(await at()).toHaveLength(4);
    expect(await at(49)).toEqual([
      `A           B${" ".repeat(31)}C`,
      `${"a".repeat(10)}  ${"b".repeat(20)}${" ".repeat(12)}ccc`,
      `${"a".repeat(10)}  ${"漢".repeat(15)}  ccc`,
      "",
    ]);
    expect(await at(30)).toEqual([
      "A           C",
      ...[`${"a".repeat(10)}  ccc`, `    ${"b".repeat(20)}`],
      ...[`${"a".repeat(10)}  ccc`, `    ${"漢".repeat(12)}…`],
      "",
    ]);
    expect((await at(12)).slice(0, 3)).toEqual(["A", "a".repeat(10), "    bbbbbbb…"]);
  });

  test("escapes stored text", async () => {
    expect(await capture((writer) => printTable(writer, columns, [[1, "\u001b[2J"]]))).toContain("\\x1b[2J");
  });
});

describe("printRecord()", () => {
  test("shows a dash for what is absent", async () => {
    const text = await capture((writer) => printRecord(writer, { id: 1, purpose: "", disabled_at: null }));
    expect(text).toBe("id           1\npurpose      -\ndisabled_at  -\n");
  });
});

describe("printJson()", () => {
  test("prints JSON that no terminal obeys", async () => {
    const value = { text: "\u001b\u009b\u202e\u2028\u007f\u{e0001}" };
    const text = await capture((writer) => printJson(writer, value));
    expect(JSON.parse(text)).toEqual(value);
    expect(text.replaceAll("\n", "")).toMatch(/^[ -~]*$/);
  });
});

describe("shortTime()", () => {
  test("drops milliseconds and nothing else", () => {
    expect(shortTime("2026-11-20T08:00:00.123Z")).toBe("2026-11-20T08:00:00Z");
    expect(shortTime(null)).toBe("-");
  });
});

describe("counted()", () => {
  test("uses the singular for one thing", () => {
    expect([0, 1, 2].map((count) => counted(count, "user"))).toEqual(["0 users", "1 user", "2 users"]);
  });
});
