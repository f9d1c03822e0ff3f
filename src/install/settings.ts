/** The settings of an installation, and the names and paths it uses. */

export { KEPT_JOBS_DIRECTORY } from "../host/settings.ts";

/** How the service changes the host: as root itself, or as `uam` through sudo. */
export type InstallMode = "direct" | "sudo";

export interface InstallSettings {
  readonly mode: InstallMode;
  /** The program that is running; copied to `PROGRAM` unless a package put it where it is. */
  readonly source: string;
  /** A copy of the program from before the package came: it goes once the unit runs the package's. */
  readonly copyToReplace?: string | undefined;
  readonly homeBase: string;
  /** As in sshd_config(5), `%h` and `%u`. */
  readonly authorizedKeysFile: string;
  /** The sudoers fragment; needed in sudo mode. */
  readonly sudoers: string | undefined;
  /** The unit of the host's sshd, e.g. "ssh.service"; undefined if it has none. */
  readonly sshUnit: string | undefined;
  /** How many processes an account may have. */
  readonly processes: number;
}

export const PROGRAM = "/usr/local/bin/uam";
export const PACKAGED_PROGRAM = "/usr/bin/uam";
export const STATE_DIRECTORY = "/var/lib/uam";
/** Key files owned by root, where no account's owner can put a key back. Everybody may pass: sshd reads as the account. */
export const KEYS_DIRECTORY = "/var/lib/uam/keys";
export const CENTRAL_KEY_FILE = `${KEYS_DIRECTORY}/%u/authorized_keys`;
export const CACHE_DIRECTORY = "/var/cache/uam";
export const CONFIG_DIRECTORY = "/etc/uam";
export const ENVIRONMENT_FILE = "/etc/uam/uam.env";
export const UNIT_FILE = "/etc/systemd/system/uam.service";
export const UNIT = "uam.service";
export const SYSUSERS_FILE = "/etc/sysusers.d/uam.conf";
export const SUDOERS_FILE = "/etc/sudoers.d/uam";
export const SSHD_DROP_IN = "/etc/ssh/sshd_config.d/50-uam.conf";
/** How many processes an account may have; read by pam_limits(8). */
export const LIMITS_FILE = "/etc/security/limits.d/50-uam.conf";
/** The administrator's own list of keys that sshd refuses, whatever this service stores. */
export const REVOKED_KEYS_FILE = "/etc/ssh/uam-revoked-keys";

/** The files that `uam agent join` installs, on a host of a service that runs elsewhere. */
export const AGENT_ENVIRONMENT_FILE = "/etc/uam/agent.env";
export const AGENT_UNIT = "uam-agent.service";
export const AGENT_UNIT_FILE = `/etc/systemd/system/${AGENT_UNIT}`;
/** The second enforcer of the lease; it works without the agent. */
export const LEASE_UNIT = "uam-agent-lease.service";
export const LEASE_UNIT_FILE = `/etc/systemd/system/${LEASE_UNIT}`;
export const LEASE_TIMER = "uam-agent-lease.timer";
export const LEASE_TIMER_FILE = `/etc/systemd/system/${LEASE_TIMER}`;

export const SERVICE_ACCOUNT = "uam";
export const DATABASE_ACCOUNT = "uam-postgres";

/** Where the installed program will be. */
export function programPath({ source }: Pick<InstallSettings, "source">): string {
  return source === PACKAGED_PROGRAM ? PACKAGED_PROGRAM : PROGRAM;
}

/** The directory in the authorized-keys pattern above all that is an account's own; undefined if the pattern begins at the home. */
export function centralKeyDirectory(pattern: string): string | undefined {
  if (!pattern.startsWith("/")) return undefined;
  const fixed = pattern.slice(0, pattern.indexOf("%") + 1 || undefined);
  return fixed.slice(0, fixed.lastIndexOf("/")) || "/";
}

/**
 * Lines of a unit. The runtime (JavaScriptCore, `proportionalHeapSize`) lets its heap grow to twice what was alive in it, but to four times
 * on machines of 16 GiB and more; nothing here is faster for that.
 */
export const HEAP_GROWTH = [
  "# Memory may grow to twice what is in use before garbage is collected, as on small machines, also where there is plenty.",
  "Environment=BUN_JSC_heapGrowthMaxIncrease=1",
];
