/** How a user connects with ssh, as texts to copy into a terminal or a file. Pure; nothing in them was typed by a stranger. */

import type { ServerKey } from "../../protocol/host.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";

/** The address of sshd for ssh: a name or an address without brackets. */
export interface SshSite {
  readonly host: string;
  readonly port: number;
}

const SSH_PORT = 22;

/** The command: `ssh ext_alice@host`, or `ssh -p 2222 ext_alice@host`. */
export function sshCommand({ host, port }: SshSite, username: string): string {
  return `ssh ${port === SSH_PORT ? "" : `-p ${port} `}${hostAccountOf(username)}@${host}`;
}

/** A block for `~/.ssh/config` with which `ssh HOST` is enough. */
export function sshConfig({ host, port }: SshSite, username: string): string {
  // HostName expands tokens, which begin with %: the zone of an IPv6 address does too.
  const lines = [`HostName ${host.replaceAll("%", "%%")}`, `User ${hostAccountOf(username)}`, `Port ${port}`];
  return [`Host ${host}`, ...lines.map((line) => `  ${line}`)].join("\n");
}

/** Lines for `~/.ssh/known_hosts`, one for each key: a port other than 22 makes the name `[host]:port` (sshd(8)). */
export function knownHostsLines({ host, port }: SshSite, keys: readonly ServerKey[]): readonly string[] {
  const name = port === SSH_PORT ? host : `[${host}]:${port}`;
  return keys.map(({ type, base64 }) => `${name} ${type} ${base64}`);
}
