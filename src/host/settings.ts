/** The settings of `createHost`, and the part of them that plans are made from. */

import type { HostMode } from "../protocol/host.ts";
import { UamError } from "../shared/errors.ts";
import type { UidRange } from "../shared/system/uids.ts";
import type { ProfilePaths } from "./profiles/names.ts";

export type { UidRange };

/** The group whose members are the accounts that the service created. */
export const MARKER_GROUP = "uam-ext";

/** Names of crontabs, at jobs and lingering that begin so are read by nothing: how they wait while an agent's host has no lease. */
export const JOBS_ASIDE = ".uam-";

/** Where root keeps copies of the jobs that were removed from accounts; in every mode root's, so not in the service's own directory. */
export const KEPT_JOBS_DIRECTORY = "/var/lib/uam-jobs";

/** Which processes end when a key is revoked: the sessions it opened, all of the account's, or none. */
export type RevokeEnds = "key" | "account" | "none";

/** The facts about the host that plans need: values only, so that plans are pure. */
export interface Layout {
  /** Absolute; homes are `<homeBase>/<account name>`. */
  readonly homeBase: string;
  readonly shell: string;
  /** Supplementary groups besides the marker group. */
  readonly groups: readonly string[];
  /** The group whose members are ours; created with the first account. */
  readonly markerGroup: string;
  /** As in sshd_config(5): `%u %h %U %%`; a relative path is relative to the home. */
  readonly authorizedKeysFile: string;
  /** Homes stay their owners', also those of shut accounts: a process on this host may not be able to give them back. */
  readonly homesStay?: boolean;
}

/** Plain data: the settings of a host, however they get there. */
export interface HostSettings extends Layout {
  readonly mode: HostMode;
  /** Which uids accounts get; what sudo mode checks its rules with. */
  readonly uidRange?: UidRange;
  readonly revokeEnds: RevokeEnds;
  /** Where profiles are held, if not in the usual places. */
  readonly profilePaths?: ProfilePaths;
  /** An sshd, configuration or journal other than the host's own; the journal with its reader and the socket that takes lines. */
  readonly tools?: {
    readonly sshd?: string;
    readonly sshdConfig?: string;
    readonly journalctl?: string;
    readonly journalStream?: string;
  };
}

const ABSOLUTE = /^(?:\/(?!\.{1,2}(?:\/|$))[^/\0]+)+$/;
const PATTERN = /^(?:[^%\0\n]|%[uhU%])+$/;
const GROUP = /^[a-z_][a-z0-9_-]{0,31}$/;

/** Whether it is an absolute path below the root, without empty parts, `.` and `..`. */
export function isPlainPath(path: string): boolean {
  return ABSOLUTE.test(path);
}

/** Throws `invalid`, naming the setting, if a value cannot be used on a host. */
export function requireLayout(layout: Layout): Layout {
  const fail = (message: string): never => {
    throw new UamError("invalid", message);
  };
  if (!isPlainPath(layout.homeBase)) fail(`UAM_HOME_BASE is not an absolute path such as /home: ${layout.homeBase}`);
  if (!isPlainPath(layout.shell)) fail(`UAM_SHELL is not an absolute path such as /bin/bash: ${layout.shell}`);
  for (const group of [layout.markerGroup, ...layout.groups]) {
    if (!GROUP.test(group)) fail(`UAM_GROUPS contains something that is not a group name: ${JSON.stringify(group)}`);
  }
  const pattern = layout.authorizedKeysFile;
  const parts = pattern.split("/");
  if (!PATTERN.test(pattern) || parts.includes("..") || parts.includes(".") || pattern.endsWith("/")) {
    fail(`UAM_AUTHORIZED_KEYS_FILE is not a path such as %h/.ssh/authorized_keys: ${pattern}`);
  }
  if (pattern.startsWith("/") && !/%[uhU]/.test(pattern)) {
    fail(`UAM_AUTHORIZED_KEYS_FILE names one file for all accounts; it needs %u or %h: ${pattern}`);
  }
  return layout;
}
