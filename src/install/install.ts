/** The steps that install the service on a host, and those that remove it again. */

import { type AccountTable, readAccounts } from "../host/account.ts";
import { PROFILE_PATHS, sshdFileIn, sudoDirectoryIn } from "../host/profiles/names.ts";
import { MARKER_GROUP } from "../host/settings.ts";
import type { HostMode } from "../protocol/host.ts";
import { UamError } from "../shared/errors.ts";
import { renderEnvironment } from "./environment.ts";
import { limitsStep } from "./limits.ts";
import { command, ROOT_FILE, remove, type Step } from "./plan.ts";
import {
  CACHE_DIRECTORY,
  CENTRAL_KEY_FILE,
  CONFIG_DIRECTORY,
  ENVIRONMENT_FILE,
  type InstallMode,
  type InstallSettings,
  KEPT_JOBS_DIRECTORY,
  KEYS_DIRECTORY,
  LIMITS_FILE,
  PROGRAM,
  programPath,
  SERVICE_ACCOUNT,
  SSHD_DROP_IN,
  STATE_DIRECTORY,
  SUDOERS_FILE,
  SYSUSERS_FILE,
  UNIT,
  UNIT_FILE,
} from "./settings.ts";
import { revokedKeysStep, sshdDropInStep } from "./sshd-drop-in.ts";
import { renderSysusers } from "./sysusers.ts";
import { renderUnit } from "./unit.ts";

/** Owned by root, and open for everybody to pass: sshd reads a key file as its account. */
export const KEYS_STEP: Step = { kind: "directory", path: KEYS_DIRECTORY, mode: 0o711, owner: "root", group: "root" };

/** Root's alone in every mode; the unit lets what runs as root write there. */
export const KEPT_JOBS_STEP: Step = {
  ...{ kind: "directory", path: KEPT_JOBS_DIRECTORY, mode: 0o700 },
  ...{ owner: "root", group: "root" },
};

/** What sshd and sudo include of profiles: the service puts its files there, root's alone. */
export function profilesSteps(mode: HostMode): readonly Step[] {
  if (mode !== "direct") return [];
  const { directory } = PROFILE_PATHS;
  const owned = { kind: "directory", mode: 0o755, owner: "root", group: "root" } as const;
  return [directory, sudoDirectoryIn(directory)].map((path) => ({ ...owned, path }));
}

/** Without the drop-in nothing reads it. */
export const NO_PROFILES_STEP: Step = { kind: "remove", path: sshdFileIn(PROFILE_PATHS.directory) };

/**
 * The place of an installation's key files: where the configuration says, or where they are; a first installation in direct mode
 * keeps them outside the homes. In sudo mode the commands run as the accounts' owners, who can write nowhere else.
 */
export function chooseKeyFile(
  mode: InstallMode,
  configured: string,
  { isFirst, isGiven }: { readonly isFirst: boolean; readonly isGiven: boolean },
): string {
  return mode === "direct" && isFirst && !isGiven ? CENTRAL_KEY_FILE : configured;
}

/** The steps of `uam install`. Throws `invalid` for sudo mode without a sudoers fragment. */
export function planInstall(settings: InstallSettings): readonly Step[] {
  const program = programPath(settings);
  // In sudo mode the service is not root, and it reads its own configuration.
  const group = settings.mode === "sudo" ? SERVICE_ACCOUNT : "root";
  const owner = group;
  return [
    ...(settings.source === program
      ? []
      : [{ ...ROOT_FILE, kind: "copy", mode: 0o755, source: settings.source, path: program } as const]),
    { ...ROOT_FILE, kind: "file", path: SYSUSERS_FILE, content: renderSysusers(settings.mode), keep: false },
    command(["systemd-sysusers", SYSUSERS_FILE]),
    { kind: "directory", path: CONFIG_DIRECTORY, mode: 0o750, owner: "root", group },
    { kind: "directory", path: STATE_DIRECTORY, mode: 0o711, owner, group },
    ...(settings.authorizedKeysFile === CENTRAL_KEY_FILE ? [KEYS_STEP] : []),
    KEPT_JOBS_STEP,
    { kind: "directory", path: CACHE_DIRECTORY, mode: 0o711, owner, group },
    {
      ...{ kind: "file", path: ENVIRONMENT_FILE, mode: 0o640, owner: "root", group, keep: true },
      content: renderEnvironment(settings.mode, settings.authorizedKeysFile),
    },
    ...sudoersSteps(settings),
    limitsStep(settings.processes),
    ...(settings.sshUnit === undefined
      ? []
      : [
          revokedKeysStep(),
          ...profilesSteps(settings.mode),
          sshdDropInStep(settings.authorizedKeysFile),
          command(["systemctl", "try-reload-or-restart", settings.sshUnit], { when: "changed" }),
        ]),
    { ...ROOT_FILE, kind: "file", path: UNIT_FILE, content: renderUnit(settings), keep: false },
    command(["systemctl", "daemon-reload"], { when: "changed" }),
    command(["systemctl", "enable", UNIT], { undo: ["systemctl", "disable", UNIT] }),
    command(["systemctl", "try-restart", UNIT], { when: "changed" }),
    ...remove(settings.copyToReplace),
  ];
}

/** Names of the accounts on this host that the service made, or of those of another table. */
export function managedAccounts({ groups }: Pick<AccountTable, "groups"> = readAccounts()): readonly string[] {
  return [...(groups.get(MARKER_GROUP)?.members ?? [])].sort();
}

/** The installation that `uam uninstall` finds on the host. */
export interface Installed {
  readonly source: string;
  readonly sshUnit: string | undefined;
  /** Names of the accounts that the service made and that are still there. */
  readonly accounts: readonly string[];
}

/** The steps of `uam uninstall`: data, configuration and accounts stay, and so does the drop-in while there are accounts. */
export function planUninstall({ source, sshUnit, accounts }: Installed): readonly Step[] {
  const keepsDropIn = accounts.length > 0;
  return [
    command(["systemctl", "disable", "--now", UNIT], { mayFail: true }),
    { kind: "remove", path: UNIT_FILE },
    command(["systemctl", "daemon-reload"]),
    { kind: "remove", path: SUDOERS_FILE },
    { kind: "remove", path: SYSUSERS_FILE },
    // Without it the accounts' own authorized_keys2 would count again.
    ...(keepsDropIn ? [] : [{ kind: "remove", path: SSHD_DROP_IN } as const, NO_PROFILES_STEP]),
    { kind: "remove", path: LIMITS_FILE },
    ...(keepsDropIn || sshUnit === undefined
      ? []
      : [command(["systemctl", "try-reload-or-restart", sshUnit], { when: "changed" })]),
    ...(programPath({ source }) === PROGRAM ? [{ kind: "remove", path: PROGRAM } as const] : []),
  ];
}

/** The rules of sudo mode; in direct mode they are removed. Throws `invalid` for sudo mode without rules. */
export function sudoersSteps({ mode, sudoers: content }: Pick<InstallSettings, "mode" | "sudoers">): readonly Step[] {
  // Left over from sudo mode, it would keep granting rights to an account that no longer needs them.
  if (mode === "direct") return [{ kind: "remove", path: SUDOERS_FILE }];
  if (content === undefined) {
    throw new UamError("invalid", "This build has no sudo mode: install with --mode direct");
  }
  const check = { kind: "draft", argv: ["visudo", "-c", "-f"] } as const;
  const owned = { mode: 0o440, owner: "root", group: "root" };
  return [{ ...owned, kind: "file", path: SUDOERS_FILE, content, keep: false, check }];
}
