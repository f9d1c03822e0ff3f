/** How a user connects with ssh, as texts to copy into a terminal or a file. Pure; nothing in them was typed by a stranger. */

import { hostAccountOf } from "./account-name.ts";
import type { SaidProfile } from "./profile-sentence.ts";

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

/** Below it only root may listen; the local end of a connection is then so much higher. */
const FIRST_FREE_PORT = 1024;
const HIGHER = 8000;

/** The commands for what may be done there: `sftp …`, one `ssh -N -L …` for each target of a profile that allows nothing else, or `ssh …`. */
export function fittingCommands(
  profile: Pick<SaidProfile, "kind" | "targets"> | undefined,
  site: SshSite,
  username: string,
): readonly string[] {
  const command = sshCommand(site, username);
  if (profile?.kind === "forward") {
    return (profile.targets ?? []).map((target) => {
      const port = Number(target.slice(target.lastIndexOf(":") + 1));
      const local = port < FIRST_FREE_PORT ? port + HIGHER : port;
      return command.replace(/^ssh /, `ssh -N -L ${asWord(`${local}:${target}`)} `);
    });
  }
  if (profile?.kind !== "sftp") return [command];
  const host = site.host.includes(":") ? `[${site.host}]` : site.host;
  const port = site.port === SSH_PORT ? "" : `-P ${site.port} `;
  return [`sftp ${port}${asWord(`${hostAccountOf(username)}@${host}`)}`];
}

/** Some shells take the brackets of an IPv6 address for a pattern. */
function asWord(text: string): string {
  return text.includes("[") ? `'${text}'` : text;
}

/** A block for `~/.ssh/config` with which `ssh HOST` is enough. */
export function sshConfig({ host, port }: SshSite, username: string): string {
  // HostName expands tokens, which begin with %: the zone of an IPv6 address does too.
  const lines = [`HostName ${host.replaceAll("%", "%%")}`, `User ${hostAccountOf(username)}`, `Port ${port}`];
  return [`Host ${host}`, ...lines.map((line) => `  ${line}`)].join("\n");
}

/** A key of the host, as its public half is written. */
interface WrittenKey {
  readonly type: string;
  readonly base64: string;
}

/** Lines for `~/.ssh/known_hosts`, one for each key: a port other than 22 makes the name `[host]:port` (sshd(8)). */
export function knownHostsLines({ host, port }: SshSite, keys: readonly WrittenKey[]): readonly string[] {
  const name = port === SSH_PORT ? host : `[${host}]:${port}`;
  return keys.map(({ type, base64 }) => `${name} ${type} ${base64}`);
}
