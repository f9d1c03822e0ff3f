/** A small world around one account's home: a base directory, a home, and a victim that must never change. */

import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KeyFile, keyFileOf } from "../../src/host/key-file/key-path.ts";

export const isRoot = process.geteuid?.() === 0;
/** As root, a uid that nobody has, so that changes of ownership show; else this process's own. */
export const ACCOUNT_UID = isRoot ? 58_801 : (process.geteuid?.() ?? 0);
export const ACCOUNT_GID = isRoot ? 58_801 : (process.getegid?.() ?? 0);

export interface Lab {
  readonly base: string;
  readonly home: string;
  readonly ssh: string;
  readonly keys: string;
  /** A directory outside the home, with a file and a directory, of another owner where possible. */
  readonly victim: string;
  readonly target: KeyFile;
  /** Type, owner, mode, content and time of everything outside the home. */
  readonly outside: () => string;
  readonly remove: () => void;
}

export function createLab(parent = tmpdir()): Lab {
  const base = mkdtempSync(join(parent, "uam-lab-"));
  chmodSync(base, 0o755);
  const home = join(base, "ext_tlab");
  const victim = join(base, "victim");
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(join(victim, "directory"), { recursive: true, mode: 0o750 });
  writeFileSync(join(victim, "file"), "precious\n", { mode: 0o640 });
  writeFileSync(join(victim, "authorized_keys"), "ssh-ed25519 AAAAvictim root\n", { mode: 0o640 });
  own(home);
  return {
    base,
    home,
    ssh: join(home, ".ssh"),
    keys: join(home, ".ssh", "authorized_keys"),
    victim,
    target: targetIn(home),
    outside: () => describeTree(victim),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** The path to the key file of an account with that home. */
export function targetIn(home: string, pattern = "%h/.ssh/authorized_keys"): KeyFile {
  return keyFileOf(pattern, { name: "ext_tlab", uid: ACCOUNT_UID, gid: ACCOUNT_GID, home });
}

/** Makes the account the owner of the path itself, never of what it links to. */
export function own(path: string): void {
  if (isRoot) chownSync(path, ACCOUNT_UID, ACCOUNT_GID);
}

/** Creates a directory of the account's. */
export function ownDirectory(path: string, mode = 0o700): void {
  mkdirSync(path, { mode });
  chmodSync(path, mode);
  own(path);
}

/** Creates a file of the account's. */
export function ownFile(path: string, content: string, mode = 0o600): void {
  writeFileSync(path, content, { mode });
  own(path);
}

export function describeTree(path: string): string {
  const stat = lstatSync(path);
  const kind = stat.isDirectory() ? "directory" : stat.isSymbolicLink() ? `-> ${readlinkSync(path)}` : "file";
  const content = stat.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : "";
  const line = [path, kind, stat.uid, stat.gid, stat.mode.toString(8), stat.nlink, stat.mtimeMs, content].join(" ");
  const below = stat.isDirectory() ? readdirSync(path).sort() : [];
  return [line, ...below.map((name) => describeTree(join(path, name)))].join("\n");
}
