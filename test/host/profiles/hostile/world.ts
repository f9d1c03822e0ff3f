/** What a hostile owner is after, and the evidence that they got it: nothing of it is within what their profile allows. */

import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Listener, listen } from "../../../../src/host/profiles/trial/listener.ts";
import type { HostProfile } from "../../../../src/protocol/profile.ts";
import type { Lab, Member } from "../trial/lab.ts";

/** The one target that is let; nobody listens there. */
export const TARGET = "127.0.0.1:9";
export const KINDS = ["sftp", "read", "forward", "command"] as const;
export type Kind = (typeof KINDS)[number];

export function profilesOf(directory: string, program: string): readonly HostProfile[] {
  const secondFactor = "none";
  return [
    { name: "sftp", kind: "sftp", directory, secondFactor },
    { name: "read", kind: "sftp", directory, readOnly: true, secondFactor },
    { name: "forward", kind: "forward", targets: [TARGET], secondFactor },
    { name: "command", kind: "command", command: program, secondFactor },
    // Not of a hostile owner: to see that the evidence would be seen.
    { name: "all", kind: "shell", forwarding: true, secondFactor },
  ];
}

export interface World {
  readonly lab: Lab;
  readonly memberOf: (kind: Kind) => Member;
  /** A file that every account of the host may read, and its content. */
  readonly secret: string;
  /** A directory that every account may write. */
  readonly drop: string;
  /** Where nobody of them may be connected to. */
  readonly port: number;
  readonly socket: string;
  /** What a shell would run: it tells, and leaves a file. */
  readonly payload: string;
  /** A file of another account's, inside the same confinement. */
  readonly victim: string;
  /** What of it happened, given all that the tries printed or brought back; nothing is as it should be. */
  readonly evidenceIn: (heard: string) => readonly string[];
  readonly close: () => void;
}

const CONTENT = "secret-of-this-host";
const VICTIMS = "secret-of-another-account";

/** `isFree`: all of them are one account, which may do everything. */
export async function openWorld(lab: Lab, isFree = false): Promise<World> {
  const { base } = lab;
  const drop = mkdtempSync(join(base, "drop-"));
  chmodSync(drop, 0o1777);
  const secret = join(base, "secret");
  writeFileSync(secret, CONTENT, { mode: 0o644 });
  const socket = `${drop}.socket`;
  const listeners: readonly Listener[] = [await listen(), await listen(socket)];
  chmodSync(socket, 0o666);
  const memberOf = (kind: Kind): Member => lab.members[isFree ? KINDS.length : KINDS.indexOf(kind)] as Member;
  const [sftp, read] = lab.members as readonly [Member, Member];
  if (!isFree) for (const member of lab.members.slice(0, KINDS.length)) plantAsShell(member, { secret, drop, base });
  const files = sftp.profile.directory ?? "";
  const readsFrom = join(files, read.user);
  writeFileSync(join(readsFrom, "own"), VICTIMS, { mode: 0o600 });
  chownSync(join(readsFrom, "own"), read.uid, read.uid);
  const before = { root: listing(files), read: listing(readsFrom) };
  const changed = (): string[] => [
    ...(listing(files) === before.root ? [] : ["something was made at the top of the confinement"]),
    ...(listing(readsFrom) === before.read ? [] : ["something was changed where only reading is allowed"]),
    ...readdirSync(drop).map((name) => `a file was left: ${name}`),
  ];
  return {
    ...{ lab, memberOf, secret, drop, socket },
    port: listeners[0]?.port ?? 0,
    payload: `echo uam-$((40+2)); cat ${secret}; id > ${drop}/by-shell`,
    victim: `/${read.user}/own`,
    evidenceIn: (heard) => [
      ...(/\buam-42\b/.test(heard) ? ["a shell ran what it was given"] : []),
      ...(heard.includes(CONTENT) ? ["a file of the host's was read"] : []),
      ...listeners.flatMap((listener) => (listener.connections() > 0 ? ["a connection was made"] : [])),
      ...(/remote forward success|Allocated port/i.test(heard) ? ["the host listens"] : []),
      ...changed(),
    ],
    close: () => {
      for (const listener of listeners) listener.close();
    },
  };
}

/** Of everything in it: names, owners, modes and contents. */
function listing(directory: string): string {
  return readdirSync(directory)
    .sort()
    .map((name) => {
      const path = join(directory, name);
      const { uid, mode, size } = statSync(path);
      return [name, uid, mode, statSync(path).isFile() ? readFileSync(path, "utf8") : size].join(" ");
    })
    .join("\n");
}

/** What whoever had a shell left in the home, to be read at the next login; and, where they have files, links. */
function plantAsShell(
  { home, uid, user, profile }: Member,
  world: { secret: string; drop: string; base: string },
): void {
  const runs = `echo uam-$((40+2)); id > ${world.drop}/planted`;
  const own = (path: string): void => chownSync(path, uid, uid);
  mkdirSync(join(home, ".ssh"));
  own(join(home, ".ssh"));
  for (const name of [".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshenv", ".cshrc", ".kshrc", ".ssh/rc"])
    writeFileSync(join(home, name), `${runs}\n`);
  const environment = `BASH_ENV=${home}/.bashrc\nENV=${home}/.bashrc\nLD_PRELOAD=${home}/evil.so\nPATH=${home}\n`;
  for (const name of [".pam_environment", ".ssh/environment"]) writeFileSync(join(home, name), environment);
  const key = readFileSync(join(world.base, "keys", user), "utf8").trim();
  for (const name of ["authorized_keys", "authorized_keys2"])
    writeFileSync(join(home, ".ssh", name), `environment="A=b",command="${runs}",pty,port-forwarding ${key}\n`);
  for (const name of [".rhosts", ".shosts", ".k5login"]) writeFileSync(join(home, name), "+ +\n");
  if (profile.kind !== "sftp" || profile.readOnly === true) return;
  const files = join(profile.directory ?? "", user);
  linkSync(join(home, ".ssh/authorized_keys"), join(files, "hard"));
  own(join(files, "hard"));
  for (const [name, target] of [
    ["absolute", world.secret],
    ["up", `../../../../../../../..${world.secret}`],
    ["root", "/proc/1/root"],
    ["self", "/proc/self/root"],
    ["top", "/"],
  ] as const)
    symlinkSync(target, join(files, name));
}
