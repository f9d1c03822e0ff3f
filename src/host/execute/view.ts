/** The host as this process itself sees it: root sees all of it. */

import { lstatSync } from "node:fs";
import { knownToNameService, readAccounts } from "../account.ts";
import type { HostView } from "../executor.ts";
import { isServed } from "../fuse-mounts.ts";
import { isHomeShut } from "../home.ts";
import { look } from "../key-file/key-file-check.ts";
import { readKeyFile } from "../key-file/key-file-text.ts";
import { readProcesses } from "../processes/processes.ts";
import { trashOf } from "../remove-home.ts";
import { errorCode, readMounts } from "../safe-open.ts";

/** The state that this process can see without root's help. */
export const OWN_VIEW: HostView = {
  accounts: (accounts) => readAccounts(accounts.length === 1 ? accounts[0] : undefined),
  shadow: async () => readAccounts().shadow,
  isHomeShut,
  exists,
  processes: readProcesses,
  mounts: readMounts,
  keyFileDifference: async (file, text, ground) => look(file, text, { ...ground, leftovers: true }),
  keyFileText: async (file, ground) => readKeyFile(file, ground),
  trash: async (base) => trashOf(base),
  uidKnown: (uid) => knownToNameService("passwd", String(uid)),
  gidKnown: (gid) => knownToNameService("group", String(gid)),
};

function exists(path: string): boolean {
  try {
    if (!isServed(path)) lstatSync(path);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return false;
    throw error;
  }
}
