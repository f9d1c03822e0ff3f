/** A host that holds profiles, below a directory of the test's own. */

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readAccounts } from "../../src/host/account.ts";
import { groupOf, isProfileGroup, PROFILE_PATHS, type ProfilePaths } from "../../src/host/profiles/names.ts";
import type { HostSettings } from "../../src/host/settings.ts";
import { REVOKED_KEYS, renderSshdDropIn } from "../../src/install/sshd-drop-in.ts";

export function profilePathsIn(base: string): ProfilePaths {
  return {
    directory: join(base, "profiles"),
    templates: join(base, "sudo-templates"),
    groups: join(base, "profile-groups"),
  };
}

/** The drop-in as `uam install` writes it, but for the places; returns the lines by which sshd reads it. */
export function profiledSshd(base: string): readonly string[] {
  const { directory } = profilePathsIn(base);
  const revoked = join(base, "revoked-keys");
  writeFileSync(revoked, REVOKED_KEYS);
  mkdirSync(directory, { mode: 0o755 });
  mkdirSync(join(base, "keys"), { mode: 0o711 });
  mkdirSync(join(base, "sshd_config.d"));
  const dropIn = renderSshdDropIn(keysPattern(base), revoked).replaceAll(PROFILE_PATHS.directory, directory);
  writeFileSync(join(base, "sshd_config.d/50-uam.conf"), dropIn);
  return [`Include ${join(base, "sshd_config.d")}/*.conf`, "Subsystem sftp internal-sftp"];
}

export function profiledSettings(base: string, sshdConfig: string): Partial<HostSettings> {
  return { authorizedKeysFile: keysPattern(base), profilePaths: profilePathsIn(base), tools: { sshdConfig } };
}

/** Removes the groups of these profiles, and what is theirs of all profiles if that is nobody's else. */
export function forgetProfiles(...names: readonly string[]): void {
  for (const name of names) spawnSync("groupdel", [groupOf(name)]);
  const left = [...readAccounts().groups].filter(([name]) => isProfileGroup(name));
  if (left.every(([, { members }]) => members.size === 0)) for (const [name] of left) spawnSync("groupdel", [name]);
}

function keysPattern(base: string): string {
  return `${base}/keys/%u/authorized_keys`;
}
