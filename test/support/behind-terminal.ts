/**
 * `behind-terminal USER PROGRAM…` runs the program as the user, as root's `uam …` runs the service's; `behind-terminal --inside WHAT…` is
 * such a program: it prints what it knows of the terminal, and asks for what is named: "line" or "all".
 */

import { text } from "node:stream/consumers";
import { distantTerminal, runBehindTerminal } from "../../src/runtime/operator-terminal.ts";

const [first = "", ...rest] = process.argv.slice(2);
if (first !== "--inside") {
  const argv = ["/usr/bin/setpriv", `--reuid=${first}`, `--regid=${first}`, "--clear-groups", "--", ...rest];
  await runBehindTerminal({ argv, env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" } });
}

const terminal = distantTerminal(process.env);
console.log(
  JSON.stringify({ ...terminal, asks: terminal?.request !== undefined, isTTY: process.stdout.isTTY ?? false }),
);
for (const what of rest as ("line" | "all")[]) {
  terminal?.request?.(what);
  if (what === "all") console.log(`all: ${JSON.stringify(await text(process.stdin))}`);
  else console.log(`line: ${JSON.stringify(await nextLine())}`);
}

async function nextLine(): Promise<string> {
  const { createInterface } = await import("node:readline");
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  return await new Promise((resolve) => {
    lines.question("? ", (answer) => {
      resolve(answer);
      lines.close();
    });
    lines.on("close", () => resolve(""));
  });
}
