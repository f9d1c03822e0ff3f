/**
 * `bun run test [FILE…]`: `bun test` in as many processes as UAM_TEST_PROCESSES says, or three. What failed is said once more at the end,
 * with its errors: thousands of lines lie between them and Bun's own list.
 */

import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { whatFailedSaid } from "./support/failures.ts";

const PROJECT = join(import.meta.dir, "..");

const processes = process.env.UAM_TEST_PROCESSES || "3";
const options = ["--timeout", "180000", `--parallel=${processes}`, "--no-isolate", ...process.argv.slice(2)];
// One stream, so that an error stays before the name of its test.
const argv = ["-c", 'exec "$@" 2>&1', "sh", process.execPath, "test", ...options];
const tests = spawn("sh", argv, { cwd: PROJECT, stdio: ["inherit", "pipe", "inherit"] });

const output: Buffer[] = [];
tests.stdout.on("data", (data: Buffer) => {
  output.push(data);
  process.stdout.write(data);
});
process.exitCode = await new Promise<number>((resolve) => tests.on("close", (code) => resolve(code ?? 1)));

const failures = whatFailedSaid(Buffer.concat(output).toString());
if (process.exitCode !== 0 && failures.length > 0) console.log(`\n== what failed said\n\n${failures.join("\n\n")}`);
