/** What the program prints at a terminal, whoever has written what is in it. */

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import process from "node:process";
import { harmlessLines } from "../../src/shared/text/text.ts";
import { atTerminal } from "../support/terminal.ts";
import { needs } from "../support/tools.ts";

const PROGRAM = `'${process.execPath}' '${join(import.meta.dir, "../../src/main.ts")}'`;
/** Sets the title, begins a sequence by its one-character form, and goes back to the beginning of the line. */
const HOSTILE = "\u001b]0;owned\u0007\u009b31m\rNothing is wrong.";
const SHOWN = "\\x1b]0;owned\\x07\\x9b31m\\x0dNothing is wrong.";

test("harmlessLines() leaves lines, tabs and text of any script, and makes visible what a terminal obeys", () => {
  expect(harmlessLines(`a\tb\n${HOSTILE}\n`)).toBe(`a\tb\n${SHOWN}\n`);
  expect(harmlessLines("Ünïcode 漢字 🙂 e\u0301")).toBe("Ünïcode 漢字 🙂 e\u0301");
  expect(harmlessLines("left\u202eright\u2028")).toBe("left\\u202eright\\u2028");
});

describe.if(needs("script"))("uam at a terminal", () => {
  test("prints a sentence with such a text in it as lines, on either output", async () => {
    for (const command of ["restore --check", "config"]) {
      const argument = command === "config" ? "" : '"/nowhere/$HOSTILE"';
      const terminal = atTerminal(`UAM_SHELL="/bin/$HOSTILE" ${PROGRAM} ${command} ${argument}`, { HOSTILE });
      await terminal.ended;
      expect(terminal.shown()).toContain(SHOWN);
      // The terminal itself makes line ends of two characters.
      expect(terminal.shown().replace(/\r?\n|\t/g, "")).not.toMatch(/\p{Cc}/u);
    }
  });
});
