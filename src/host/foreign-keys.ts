/** Whether sshd lets anybody in under the name or the uid of an account that is no longer ours: looked at, never touched. */

import type { AccountRef } from "../protocol/host.ts";
import { publicMessage } from "../shared/errors.ts";
import { nameServiceEntry, type PasswdEntry, presenceIn, requireRef } from "./account.ts";
import { attempt } from "./executor.ts";
import type { HostContext } from "./host-context.ts";
import { deadKeyIn } from "./key-file/effective-keys.ts";
import { keyFileOf } from "./key-file/key-path.ts";

/** The files that sshd reads by default (sshd_config(5)): used for a name that it does not answer for. */
const DEFAULT_FILES = [".ssh/authorized_keys", ".ssh/authorized_keys2"];

/** See `Host.foreignKeys`. A file that cannot be read may let somebody in. */
export async function foreignKeys(context: HostContext, account: AccountRef): Promise<readonly string[]> {
  requireRef(account);
  const table = context.executor.view.accounts([account]);
  const presence = presenceIn(table, account);
  if (presence === "present") return [];
  if (presence === "missing") return await elsewhere(context, account);
  // Renamed, it is still the account whose keys were written; with another uid, it still has the name that they were written for.
  const names = new Set([account.name, ...(table.namesByUid.get(account.uid) ?? [])]);
  const entries = [...names].flatMap((name) => table.passwd.get(name) ?? []);
  const sentences: string[] = [];
  for (const entry of entries) sentences.push(...(await keysOf(context, entry)));
  return [...new Set(sentences)];
}

/** sshd asks the name service switch: an account that is in no line of /etc/passwd may be in a directory server, or systemd's. */
async function elsewhere(context: HostContext, { name, uid }: AccountRef): Promise<readonly string[]> {
  const sentences: string[] = [];
  for (const key of [name, String(uid)]) {
    try {
      const entry = await nameServiceEntry(key);
      if (entry !== undefined) sentences.push(...(await keysOf(context, entry)));
    } catch (error) {
      sentences.push(publicMessage(error));
    }
  }
  return [...new Set(sentences)];
}

async function keysOf(context: HostContext, entry: PasswdEntry): Promise<readonly string[]> {
  const { executor, log, settings } = context;
  const { view } = executor;
  const patterns = (await context.patterns.named(entry.name)) ?? [settings.authorizedKeysFile, ...DEFAULT_FILES];
  const found: string[] = [];
  for (const pattern of patterns.filter((it) => it !== "none")) {
    const failed = await attempt(async () => {
      const file = keyFileOf(pattern, entry);
      if (!view.exists(file.inHome ? entry.home : file.trusted)) return;
      const sentence = deadKeyIn(file, await view.keyFileText(file, { mounts: view.mounts() }), { kind: "all" });
      if (sentence !== undefined) found.push(`sshd reads keys of ${entry.name} from ${file.path}`);
    }, log);
    if (failed !== undefined) found.push(`The keys of ${entry.name} cannot be looked at: ${failed}`);
  }
  return found;
}
