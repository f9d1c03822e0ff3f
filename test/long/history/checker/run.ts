/**
 * `bun test/long/history/checker/run.ts FILE...`: judges histories by docs/history-model.md. Prints each finding with the shortest part of the
 * history that shows it. Exit code 1 if there is any, 2 for what is no history.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import process from "node:process";
import type { Line } from "../format.ts";
import { check, textOf } from "./check.ts";

process.exitCode = main(process.argv.slice(2));

function main(files: readonly string[]): number {
  let status = files.length === 0 ? 2 : 0;
  for (const file of files) {
    try {
      status = Math.max(status, judged(file));
    } catch (error) {
      console.error(`${file}: ${error instanceof Error ? error.message : String(error)}`);
      status = 2;
    }
  }
  return status;
}

function judged(file: string): number {
  const text = readFileSync(file, "utf8");
  const lines = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]));
  const violations = check(lines);
  for (const violation of violations) console.log(textOf(violation));
  const hash = createHash("sha256").update(text).digest("hex");
  console.log(`${file}: ${lines.length} lines, SHA-256 ${hash}: ${violations.length} findings`);
  return violations.length > 0 ? 1 : 0;
}
