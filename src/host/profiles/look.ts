/** Whether the profiles that the host holds count: what the doctor says. Changes nothing. */

import { readdirSync } from "node:fs";
import { publicMessage } from "../../shared/errors.ts";
import { ACCOUNT_PREFIX } from "../../shared/text/account-name.ts";
import { readAccounts } from "../account.ts";
import { splitHome } from "../plan/plan.ts";
import type { HostSettings } from "../settings.ts";
import { createKeyFilePatterns } from "../sshd/sshd.ts";
import { groupOf, sshdFileIn } from "./names.ts";
import { pathsOf, readHeld, textIn } from "./profile-files.ts";
import { faultForAccount } from "./sshd-answer.ts";
import { faultOfInclude } from "./sshd-include.ts";

/** The profiles held, what is wrong with them, and the host's own rules that come before them for some connections. */
export interface HeldProfiles {
  readonly names: readonly string[];
  readonly faults: readonly string[];
  readonly earlier: readonly string[];
}

/** Asks sshd for an account of each. Never throws. */
export async function lookAtProfiles(settings: Pick<HostSettings, "tools" | "profilePaths">): Promise<HeldProfiles> {
  try {
    const paths = pathsOf(settings);
    const held = [...readHeld(paths)];
    if (held.length === 0) return { names: [], faults: [], earlier: [] };
    const unread = faultOfInclude(settings, paths);
    const patterns = createKeyFilePatterns(settings.tools);
    const { groups } = readAccounts();
    const faults = unread === undefined ? [] : [unread];
    for (const [name, block] of unread === undefined ? held : []) {
      const [member] = groups.get(groupOf(name))?.members ?? [];
      const fault = member === undefined ? undefined : await faultForAccount({ patterns }, block, member);
      if (fault !== undefined) faults.push(`The profile ${name} does not hold: ${fault}`);
    }
    const config = settings.tools?.sshdConfig ?? "/etc/ssh/sshd_config";
    return { names: held.map(([name]) => name), faults, earlier: earlierRules(config, sshdFileIn(paths.directory)) };
  } catch (error) {
    return { names: [], faults: [publicMessage(error)], earlier: [] };
  }
}

/**
 * The `Match` lines that sshd reads before our file, with where they stand: for the connections that they match, what they say counts, and asking
 * about one address does not find it.
 */
export function earlierRules(config: string, ours: string): readonly string[] {
  const found: string[] = [];
  // True once our file is reached.
  const read = (path: string, depth: number): boolean => {
    for (const line of textIn(path).split("\n")) {
      const [, keyword = "", rest = ""] = /^\s*(\w+)(?:\s+|\s*=\s*)(.*?)\s*$/.exec(line) ?? [];
      if (/^match$/i.test(keyword)) found.push(`${path}: Match ${rest}`);
      if (!/^include$/i.test(keyword) || depth === 0) continue;
      for (const pattern of rest.split(/\s+/).map((one) => one.replaceAll('"', ""))) {
        if (pattern === ours) {
          // The block that our own drop-in reads the file in.
          if (found.at(-1) === `${path}: Match User ${ACCOUNT_PREFIX}*`) found.pop();
          return true;
        }
        for (const file of matching(pattern)) if (read(file, depth - 1)) return true;
      }
    }
    return false;
  };
  // Where our file is not read, nothing comes before it.
  return read(config, 5) ? found : [];
}

/** Files by a pattern with `*` in its last part, as sshd's own `Include`s have it; relative ones lie in /etc/ssh. */
function matching(pattern: string): readonly string[] {
  const { base, name } = splitHome(pattern.startsWith("/") ? pattern : `/etc/ssh/${pattern}`);
  if (!name.includes("*")) return [`${base}/${name}`];
  const [before = "", after = ""] = name.split("*");
  try {
    const names = readdirSync(base).filter(
      (one) => one.startsWith(before) && one.endsWith(after) && !one.startsWith("."),
    );
    return names.sort().map((one) => `${base}/${one}`);
  } catch {
    return [];
  }
}
