/** Where an account's authorized-keys file is, and who owns which part of the path to it. Pure. */

import { UamError } from "../../shared/errors.ts";

/** An account's entry in /etc/passwd, as far as files are concerned. */
export interface Owner {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

/** The owner and mode of a key file and of the directories of its account. */
export interface Holding {
  readonly uid: number;
  readonly gid: number;
  readonly directoryMode: number;
  readonly fileMode: number;
}

/** A path to a file: first through directories that only root can change, then through the account's own. */
export interface KeyFile {
  readonly owner: Owner;
  /** The whole path, for messages. */
  readonly path: string;
  /** Absolute; every part of it must belong to root and be closed to others. */
  readonly trusted: string;
  /** Directories below `trusted` that are the account's alone; the hostile part if they are in its home. */
  readonly owned: readonly string[];
  readonly file: string;
  /** In a home the account itself. Elsewhere root, and the account's group may read: nobody can put a key back. */
  readonly holding: Holding;
  /** The first of `owned` is the home, which is never created and never replaced. */
  readonly inHome: boolean;
}

/** Expands `%u %h %U %%` as sshd does (sshd_config(5), AuthorizedKeysFile); a relative result is relative to the home. */
export function expandKeyPath(pattern: string, owner: Owner): string {
  const tokens: Readonly<Record<string, string>> = { u: owner.name, h: owner.home, U: String(owner.uid), "%": "%" };
  const path = pattern.replace(/%(.)/g, (whole, token: string) => tokens[token] ?? whole);
  return path.startsWith("/") ? path : `${owner.home}/${path}`;
}

/** The path to the account's authorized-keys file. Throws `internal` if the path has `.` or `..` in it. */
export function keyFileOf(pattern: string, owner: Owner): KeyFile {
  const path = expandKeyPath(pattern, owner);
  const parts = path.split("/").filter((part) => part !== "");
  if (parts.includes("..") || parts.includes(".")) throw new UamError("internal", `Not a plain path: ${path}`);
  const home = owner.home.split("/").filter((part) => part !== "");
  const inHome = home.length > 0 && home.every((part, index) => parts[index] === part);
  const own = inHome
    ? home.length - 1
    : parts.findIndex((part) => part.includes(owner.name) || part === String(owner.uid));
  const split = own < 0 ? parts.length - 1 : Math.min(own, parts.length - 1);
  return {
    owner,
    path: `/${parts.join("/")}`,
    trusted: `/${parts.slice(0, split).join("/")}`,
    owned: parts.slice(split, -1),
    file: parts.at(-1) ?? "",
    holding: inHome
      ? { uid: owner.uid, gid: owner.gid, directoryMode: 0o700, fileMode: 0o600 }
      : { uid: 0, gid: owner.gid, directoryMode: 0o750, fileMode: 0o640 },
    inHome,
  };
}

/** The files other than the account's own that sshd reads keys from, by its patterns (`none` is no file). */
export function otherKeyFilesOf(patterns: readonly string[], ours: KeyFile): readonly KeyFile[] {
  return patterns
    .filter((pattern) => pattern !== "none")
    .map((pattern) => keyFileOf(pattern, ours.owner))
    .filter((file) => file.path !== ours.path);
}
