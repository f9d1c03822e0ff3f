/**
 * Commands of the host that fail when they are told to: a script in the place of each, seen by the service alone, in a mount
 * namespace of its own.
 */

import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the service runs, in either mode. */
export const COMMANDS = [
  ...["/usr/sbin/useradd", "/usr/sbin/usermod", "/usr/sbin/userdel", "/usr/sbin/sshd", "/usr/bin/chage"],
  ...["/usr/bin/chattr", "/usr/bin/chmod", "/usr/bin/dd", "/usr/bin/find", "/usr/bin/getent", "/usr/bin/install"],
  ...["/usr/bin/journalctl", "/usr/bin/loginctl", "/usr/bin/ls", "/usr/bin/mkdir", "/usr/bin/mv", "/usr/bin/pkill"],
  ...["/usr/bin/rm", "/usr/bin/setpriv", "/usr/bin/stat"],
].filter((path) => existsSync(path));

/** `late`: done, and then reported as failed. `hang`: once, and longer than the service waits. */
export const TROUBLES = ["fail", "kill", "late", "hang"] as const;
export type Trouble = (typeof TROUBLES)[number];

export interface Shims {
  /** Runs a command where the scripts are in place. */
  readonly wrapper: readonly string[];
  trouble(command: string, trouble: Trouble): void;
  /** All of them work again. */
  clear(): void;
}

export function makeShims(directory: string): Shims {
  const [real, control] = [join(directory, "real"), join(directory, "control")];
  for (const path of [real, control]) mkdirSync(path, { recursive: true, mode: 0o755 });
  for (const path of COMMANDS) {
    const copy = join(real, nameOf(path));
    copyFileSync(path, copy);
    chmodSync(copy, 0o755);
  }
  const script = join(directory, "shim");
  writeFileSync(script, shim(real, control), { mode: 0o755 });
  // A copy each: sudo compares what it was allowed to run with what it runs by device and inode.
  const places = COMMANDS.map((path) => {
    const own = join(directory, `shim-${nameOf(path)}`);
    copyFileSync(script, own);
    return [own, path] as const;
  });
  const wrapper = join(directory, "wrapper");
  const mounts = places.map(([own, path]) => `mount --bind ${own} ${path}`);
  writeFileSync(wrapper, `${["set -e", ...mounts, 'exec "$@"'].join("\n")}\n`, { mode: 0o755 });
  return {
    wrapper: ["/usr/bin/unshare", "--mount", "--propagation", "slave", "/bin/sh", wrapper],
    trouble: (command, trouble) => {
      // The account's owner and the service's user turn off what is to happen once.
      writeFileSync(join(control, nameOf(command)), `${trouble}\n`);
      chmodSync(join(control, nameOf(command)), 0o666);
    },
    clear: () => {
      for (const name of readdirSync(control)) rmSync(join(control, name));
    },
  };
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Nothing but the shell's own words: each command it could use may be one that fails. `-p`: some run with two uids. */
function shim(real: string, control: string): string {
  return `#!/bin/sh -p
name=\${0##*/}
mode=
[ -r "${control}/$name" ] && read -r mode < "${control}/$name"
case $mode in
  fail) echo "$name: made to fail" >&2; exit 1 ;;
  kill) kill -KILL $$ ;;
  late) "${real}/$name" "$@"; echo "$name: made to fail" >&2; exit 1 ;;
  hang) : > "${control}/$name"; exec sleep 60 ;;
esac
exec "${real}/$name" "$@"
`;
}
