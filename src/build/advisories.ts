/**
 * `bun src/build/advisories.ts`: asks the registry for known vulnerabilities of everything in bun.lock. Exit code 0 if there are none, 1 if
 * there are, or the answer cannot be read, and 3 if the registry does not offer such answers: then nothing was checked.
 */

import process from "node:process";
import { PROJECT } from "./packages.ts";

const UNCHECKED = 3;
/** A mirror that has packages only: it does not know the address, or not for this. */
const NOT_OFFERED = /\/security\/advisories\/bulk - (?:404|405|501)$/m;

/** The outcome, as an exit code and a text. */
export interface Verdict {
  readonly exitCode: number;
  readonly text: string;
}

/** Reads what `bun audit --json` answered; whatever is not understood counts as a failure, never as "nothing found". */
export function judgeAudit(exitCode: number, stdout: string, stderr: string): Verdict {
  if (NOT_OFFERED.test(stderr)) {
    const reason = NOT_OFFERED.exec(stderr)?.[0].trim();
    return {
      exitCode: UNCHECKED,
      text: `NOT CHECKED: the registry offers no advisories (${reason}). Ask one that does.`,
    };
  }
  let found: unknown;
  try {
    found = JSON.parse(stdout.slice(Math.max(stdout.indexOf("{"), 0)));
  } catch {
    return { exitCode: 1, text: `The answer of bun audit cannot be read:\n${stdout}\n${stderr}` };
  }
  const names = Object.keys(found as object);
  if (names.length > 0) return { exitCode: 1, text: `Known vulnerabilities in ${names.join(", ")}:\n${stdout}` };
  if (exitCode !== 0) return { exitCode: 1, text: `bun audit ended with ${exitCode}:\n${stderr}` };
  return { exitCode: 0, text: "No known vulnerabilities." };
}

if (import.meta.main) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, "audit", "--json"], { cwd: PROJECT });
  const verdict = judgeAudit(exitCode, stdout.toString(), stderr.toString());
  console.log(verdict.text);
  process.exit(verdict.exitCode);
}
