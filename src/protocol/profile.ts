/** Profiles as a host holds them: what the accounts of a profile may do there, whatever they ask sshd for. */

export type ProfileKind = "shell" | "sftp" | "forward" | "command";

/** A profile in full; nothing in it is free text that could reach a configuration but names, numbers, `host:port` and paths that were checked. */
export interface HostProfile {
  /** Lower-case letters, digits and hyphens, at most 24, beginning with a letter: the host's group is `uam-p-` and the name. */
  readonly name: string;
  readonly kind: ProfileKind;
  /** `sftp`: an absolute path, root's, to which its accounts are confined. */
  readonly directory?: string;
  readonly readOnly?: boolean;
  /** `sftp`: octal digits, e.g. "027". */
  readonly umask?: string;
  /** `forward`: `host:port`, at least one. */
  readonly targets?: readonly string[];
  /** `shell`: whether connections may be forwarded, or only to these `host:port`. */
  readonly forwarding?: boolean | readonly string[];
  /** `command`: the name of a program in `/etc/uam-commands`. */
  readonly command?: string;
  /** Seconds after which a silent session ends; at least 60. */
  readonly idleSeconds?: number;
  /** Sessions in each connection. */
  readonly maxSessions?: number;
  /** The path of a file of root's that sshd shows before a login. */
  readonly banner?: string;
  readonly secondFactor: "none" | "verified";
  /** Only keys whose make was proven open its accounts. The service leaves the others out: hosts know no more of it than that it is narrower. */
  readonly attestation?: "required";
  /** `shell`: supplementary groups, each of which the host's owner has allowed. */
  readonly groups?: readonly string[];
  /** `shell`: names of templates in `/etc/uam/sudo.d`. */
  readonly sudo?: readonly string[];
}

/** Whether a host holds a profile: `problem` is a sentence about what sshd, sudo or the host would do otherwise. */
export type ProfileState =
  | { readonly name: string; readonly state: "applied" }
  | { readonly name: string; readonly state: "problem"; readonly problem: string };
