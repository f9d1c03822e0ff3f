/** A file system whose quota can be used up for everybody, root included: btrfs, whose quotas need no kernel option. */

import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";

const SIZE = 256 * 1024 * 1024;
const QUOTA = "8M";

export interface QuotaMount {
  /** Uses up what is left of the quota, as a file of the account's at `path`. */
  readonly fill: (path: string, uid: number) => void;
  /** Removes the limit. */
  readonly lift: () => void;
  readonly unmount: () => void;
}

/** False, with a prominent warning, if this kernel has no btrfs: quotas are then not tested. */
export function kernelHasQuota(): boolean {
  spawnSync("modprobe", ["btrfs"]);
  if (/\tbtrfs$/m.test(readFileSync("/proc/filesystems", "utf8"))) return true;
  const line = "!".repeat(100);
  console.error(`\n${line}\n!! NOT TESTED: quotas. This kernel has no btrfs.\n${line}\n`);
  return false;
}

/** Mounts one over the directory. Throws, naming what is missing, if this machine cannot. */
export function mountWithQuota(directory: string): QuotaMount {
  const files = mkdtempSync("/var/tmp/uam-test-quota-");
  const image = join(files, "image");
  closeSync(openSync(image, "w"));
  truncateSync(image, SIZE);
  const unmount = (): void => {
    spawnSync("umount", ["--lazy", directory]);
    rmSync(files, { recursive: true });
  };
  try {
    must("mkfs.btrfs", "--quiet", image);
    must("mount", "-o", "loop", image, directory);
    must("btrfs", "quota", "enable", directory);
    must("btrfs", "qgroup", "limit", QUOTA, "0/5", directory);
  } catch (error) {
    unmount();
    throw error;
  }
  return { fill, lift: () => must("btrfs", "qgroup", "limit", "none", "0/5", directory), unmount };
}

function fill(path: string, uid: number): void {
  const script = `cat /dev/zero >${path}; for name in $(seq 1 2000); do : >${path}$name || exit 0; done; exit 9`;
  const argv = ["--reuid", String(uid), "--regid", String(uid), "--clear-groups", "--", "/bin/sh", "-c", script];
  const { status, stderr } = spawnSync("setpriv", argv, { encoding: "utf8" });
  if (status === 9 || !/quota exceeded/i.test(stderr))
    throw new Error(`the quota was not used up: ${status} ${stderr}`);
}

function must(command: string, ...args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? stderr}`);
}
