/** Reads the messages of this host's sudo: its implementation, its refusals and its rules. The one place that knows the wording. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { findCommand } from "../command.ts";

/** The fault, and the way to fix it. */
export interface SudoFault {
  readonly finding: string;
  readonly remedy: string;
}

/** Expressions in arguments came with this version (sudoers(5), "Regular expressions in command arguments"). */
const REGEX_SINCE = [1, 9, 10] as const;
/** The original sudo, where a distribution installs sudo-rs beside it. */
const ORIGINAL = "/usr/bin/sudo.ws";
const USE_DIRECT = "or use direct mode, which needs no sudo: uam install --mode direct";

/**
 * A refusal: of the original sudo without and with `-l`, and of sudo-rs, which takes the place of the other in an upgrade of the
 * distribution. It is told from what a command says by sudo's name in front.
 */
const REFUSED =
  /^(?:sudo(?:-rs)?: (?:a password is required|interactive authentication is required|.*not allowed|I'm sorry .+\. I'm afraid I can't do that)|(?:sudo(?:-rs)?: )?Sorry, user )|may not run sudo|not in the sudoers file/m;

/** Whether it says on standard error that it refuses to run the command: then its exit code is not the command's. Pure. */
export function isRefusal(stderr: string): boolean {
  return REFUSED.test(stderr);
}

/** A refusal as a sentence: the refused command, the reason if known, and the way to fix it. Pure. */
export function describeRefusal(
  argv: readonly string[],
  { finding, remedy }: { readonly finding?: string; readonly remedy: string },
): string {
  const why = finding === undefined ? "" : ` (${finding})`;
  return `sudo refuses to run ${JSON.stringify(argv.join(" "))}${why}: ${remedy}`;
}

/** Whether it lists something that may be run without a password as the members of that group, or as anybody. Pure. */
export function mayRunAsMembers(list: string, group: string): boolean {
  return list.includes(`(%${group})`) || /\(ALL( : ALL)?\) NOPASSWD: ALL/.test(list);
}

/**
 * Why sudo mode cannot work with the sudo of this host, or undefined if it can. A file of rules that this sudo cannot read grants
 * nothing, and is complained about at each call of sudo: ask before writing one.
 */
export function findSudoFault(): SudoFault | undefined {
  const path = findCommand("/usr/bin/sudo");
  if (path === undefined) return { finding: "This host has no sudo", remedy: `install it, ${USE_DIRECT}` };
  // sudo-rs prints its version on standard error.
  const { stdout, stderr } = spawnSync(path, ["-V"], {
    ...{ env: { LC_ALL: "C" }, encoding: "utf8", timeout: 10_000, cwd: "/", stdio: ["ignore", "pipe", "pipe"] },
  });
  return judgeSudo(`${stdout ?? ""}\n${stderr ?? ""}`, existsSync(ORIGINAL));
}

/** The same for what `sudo -V` said. Pure. */
export function judgeSudo(text: string, hasOriginal: boolean): SudoFault | undefined {
  const needed = `UAM_HOST_MODE=sudo needs sudo ${REGEX_SINCE.join(".")} or later`;
  const rust = /^sudo-rs (\S+)/m.exec(text);
  if (rust !== null) {
    return {
      finding: `${needed}; this host's sudo is sudo-rs ${rust[1]}, which has no patterns for arguments and grants nothing by these rules`,
      remedy: hasOriginal
        ? `update-alternatives --set sudo ${ORIGINAL}; ${USE_DIRECT}`
        : `install the original sudo in its place, ${USE_DIRECT}`,
    };
  }
  const original = /^Sudo version (\d+)\.(\d+)(?:\.(\d+))?/m.exec(text);
  if (original === null) {
    const said = text.trim().split("\n")[0]?.slice(0, 200) ?? "";
    return {
      finding: `${needed}; what this host's sudo says of its version is not understood: ${JSON.stringify(said)}`,
      remedy: `install the original sudo, ${USE_DIRECT}`,
    };
  }
  const version = original.slice(1, 4).map((part) => Number(part ?? 0));
  const difference = REGEX_SINCE.map((wanted, index) => (version[index] ?? 0) - wanted).find((it) => it !== 0) ?? 0;
  if (difference >= 0) return undefined;
  return { finding: `${needed}; this host has ${version.join(".")}`, remedy: `update it, ${USE_DIRECT}` };
}
