/** SELinux: whether sshd could read the key files that an installation makes. Written by the policies' documents, and never run on such a host. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { UamError } from "../shared/errors.ts";

/** What is asked of this host; tests have another one. */
export interface SelinuxHost {
  readonly enforces: () => boolean;
  /** Undefined if there is no such file. */
  readonly labelOf: (path: string) => string | undefined;
}

/** The kernel's own answer: "1" while it enforces (selinux(8)). */
const ENFORCE_FILE = "/sys/fs/selinux/enforce";
/** What the policies of Red Hat's family let sshd read as key files (ssh_selinux(8)). */
const KEY_TYPE = "ssh_home_t";

const THIS_HOST: SelinuxHost = {
  enforces: () => existsSync(ENFORCE_FILE) && readFileSync(ENFORCE_FILE, "utf8").trim() === "1",
  labelOf: (path) =>
    existsSync(path) ? spawnSync("stat", ["--format=%C", "--", path], { encoding: "utf8" }).stdout.trim() : undefined,
};

/**
 * Throws `invalid`, with the commands, where SELinux enforces and sshd could not read the key files: in a directory of ours they get its label,
 * so it has to be there, with the right one; those in homes get one that uam does not choose.
 */
export function requireLabels(authorizedKeysFile: string, host: SelinuxHost = THIS_HOST): void {
  if (!host.enforces()) return;
  const directory = aboveUser(authorizedKeysFile);
  if (directory === undefined) {
    throw new UamError(
      "invalid",
      "SELinux enforces its policy here, and the key files would be in the homes, with labels that sshd may refuse: install in direct mode, with the key files elsewhere",
    );
  }
  const type = host.labelOf(directory)?.split(":")[2];
  if (type === KEY_TYPE) return;
  const has = type === undefined ? "does not exist" : `has the type ${type}`;
  throw new UamError(
    "invalid",
    `SELinux enforces its policy here, and ${directory}, where sshd is to read the key files, ${has}: first run mkdir -p ${directory} && semanage fcontext -a -t ${KEY_TYPE} '${directory}(/.*)?' && restorecon -R -F ${directory}`,
  );
}

/** The directory above the user's part of a path; undefined for one in a home. */
function aboveUser(path: string): string | undefined {
  const place = path.indexOf("%u");
  return path.startsWith("/") && place >= 0 ? dirname(path.slice(0, place + 1)) : undefined;
}
