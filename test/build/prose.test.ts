import { describe, expect, test } from "bun:test";
import { PROSE_WIDTH, wrapProse } from "../../src/build/prose.ts";

const LONG = "word ".repeat(30).trim();

describe("wrapProse()", () => {
  test("fills a paragraph and a list item that are too long, and leaves their neighbours alone", () => {
    const text = `# A title\n\nShort\nlines.\n\n${LONG}\n\n- ${LONG}\n- short\n  too\n`;
    const wrapped = wrapProse(text);
    expect(wrapped.split("\n").every((line) => line.length <= PROSE_WIDTH)).toBe(true);
    expect(wrapped.replace(/\s+/g, " ")).toBe(text.replace(/\s+/g, " "));
    expect(wrapped).toContain("\n\nShort\nlines.\n\n");
    expect(wrapped).toContain("\n  word word");
    expect(wrapped).toEndWith("\n- short\n  too\n");
    expect(wrapProse(wrapped)).toBe(wrapped);
  });

  test.each([
    ["a table", `| ${LONG} |\n|---|\n| ${LONG} |`],
    ["a block of code", `\`\`\`sh\n${LONG}\n\`\`\``],
    ["indented code", `    ${LONG}`],
    ["a heading", `# ${LONG}`],
    ["HTML", `<p>${LONG}</p>`],
    ["one long word", `https://example.org/${"x".repeat(100)}`],
  ])("leaves %s as it is", (_, text) => {
    expect(wrapProse(text)).toBe(text);
  });

  test.each(["-", "1.", "#", "> x", "| x", "<b>", "==="])(
    "begins no line with %j, which would be something else",
    (text) => {
      const [first = ""] = text.split(" ");
      for (let words = 15; words < 25; words++) {
        const wrapped = wrapProse(`${"word ".repeat(words)}${text} ${LONG}`);
        for (const line of wrapped.split("\n")) expect(line.startsWith(`${first} `)).toBe(false);
      }
    },
  );

  test("breaks no code span", () => {
    const span = `\`${"uam user ".repeat(5)}\``;
    for (let words = 5; words < 25; words++)
      expect(wrapProse(`${"word ".repeat(words)}${span} ${LONG}`)).toContain(span);
  });
});
