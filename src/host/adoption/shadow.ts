/** An account's line of shadow(5), in full: what gives an account its password back. */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { UamError } from "../../shared/errors.ts";
import { oneAtATime } from "../execute/direct.ts";

const CHPASSWD = "/usr/sbin/chpasswd";

/** The fields from the password to the expiry date. Throws `conflict` without a line. */
export function shadowFieldsOf(name: string): readonly string[] {
  const line = readFileSync("/etc/shadow", "utf8")
    .split("\n")
    .find((one) => one.startsWith(`${name}:`));
  if (line === undefined) throw new UamError("conflict", `${name} has no entry in /etc/shadow`);
  return line.split(":").slice(1, 8);
}

/** Sets the password's hash, which no other process sees: it is no argument. Throws `internal` with chpasswd's own words. */
export function setPasswordHash(name: string, hash: string): Promise<void> {
  return oneAtATime(
    () =>
      new Promise<void>((resolve, reject) => {
        const stdio = ["pipe", "ignore", "pipe"] as const;
        const child = spawn(CHPASSWD, ["-e"], { stdio: [...stdio], cwd: "/", detached: true, env: { LC_ALL: "C" } });
        let words = "";
        child.stderr?.on("data", (chunk: Buffer) => {
          words += chunk.toString("utf8");
        });
        child.on("error", (cause) => reject(new UamError("internal", `Cannot run ${CHPASSWD}`, { cause })));
        child.on("close", (code) => {
          if (code === 0) resolve();
          else reject(new UamError("internal", `chpasswd refused ${name}: ${words.trim() || `exit code ${code}`}`));
        });
        child.stdin?.on("error", () => {});
        child.stdin?.end(`${name}:${hash}\n`);
      }),
  );
}
