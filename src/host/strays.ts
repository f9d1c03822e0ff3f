/** Processes under a uid that no account has: a deleted account's program, started by another account. */

import { readFileSync } from "node:fs";
import type { AccountRef, Stray } from "../protocol/host.ts";
import { replaceUnprintable } from "../shared/text/text.ts";
import { type AccountTable, isOurs, readAccounts, uidsIn } from "./account.ts";
import { attempt } from "./executor.ts";
import type { HostContext } from "./host-context.ts";
import { type ListedProcess, listedOf, programOf, usedUids } from "./processes/processes.ts";

/** As in account.ts: below are the system's. */
const LOWEST_UID = 1000;
/** How many programs a sentence names, and how much of each. */
const MOST_NAMED = 3;
const LONGEST_PATH = 200;

/** The uids that processes have in any way and that no line of /etc/passwd has, from 1000 on. One look at all processes. */
export async function orphanUids(): Promise<readonly number[]> {
  const used = [...(await usedUids())].filter((uid) => uid >= LOWEST_UID);
  if (used.length === 0) return [];
  const known = uidsIn(readFileSync("/etc/passwd", "utf8"));
  return used.filter((uid) => !known.has(uid));
}

/** See `Host.endStrays`. */
export async function endStrays(
  context: HostContext,
  uids: readonly number[],
  checkOnly: boolean,
): Promise<readonly Stray[]> {
  const strays: Stray[] = [];
  for (const uid of uids) {
    const stray = await endStray(context, uid, checkOnly).catch((error: unknown) => {
      context.log.error("processes of a uid that no account has could not be looked at", { uid, error });
      return undefined;
    });
    if (stray !== undefined) strays.push(stray);
  }
  return strays;
}

async function endStray(context: HostContext, uid: number, checkOnly: boolean): Promise<Stray | undefined> {
  const { view } = context.executor;
  const found = listedOf(view.processes(), uid);
  if (found.length === 0) return undefined;
  // Read after the processes: an account that is made in between is not taken for none.
  const table = readAccounts();
  if (table.namesByUid.has(uid) || (await view.uidKnown(uid))) return undefined;
  const problem = describe(uid, found, table);
  if (checkOnly) return { uid, problem, ended: false };
  // No account has such a name, so that no connection of sshd's is meant.
  const former: AccountRef = { name: `#${uid}`, uid };
  let failed = await end(context, former);
  if (failed !== undefined) {
    // It may fork faster than we look, and only its starter may be allowed to kill it: then everything that its starter runs ends.
    for (const starter of startersOf(context, uid)) await end(context, starter);
    failed = await end(context, former);
  }
  return failed === undefined ? { uid, problem, ended: true } : { uid, problem: `${problem}. ${failed}`, ended: false };
}

function end({ executor, log }: HostContext, account: AccountRef): Promise<string | undefined> {
  return attempt(() => executor.apply({ kind: "end-processes", account }), log);
}

/** The accounts of ours that the uid's processes belong to, too. */
function startersOf({ executor, settings }: HostContext, uid: number): readonly AccountRef[] {
  const table = readAccounts();
  const others = new Set(listedOf(executor.view.processes(), uid).flatMap(({ uids }) => uids));
  return [...others].flatMap((other) => {
    const [name] = table.namesByUid.get(other) ?? [];
    return name !== undefined && isOurs(table, other, settings.markerGroup) ? [{ name, uid: other }] : [];
  });
}

/** A path is what its owner made of it. */
function describe(uid: number, found: readonly ListedProcess[], { namesByUid }: AccountTable): string {
  const programs = found.flatMap(({ pid }) => programOf(pid) ?? []);
  const named = [...new Set(programs)].slice(0, MOST_NAMED).map((path) => JSON.stringify(printable(path)));
  const starters = new Set(
    found.flatMap(({ uids }) => uids.flatMap((other) => (other === uid ? [] : (namesByUid.get(other) ?? [])))),
  );
  const what = named.length === 0 ? "" : `, running ${named.join(", ")}`;
  const who = starters.size === 0 ? "" : `, started by ${[...starters].slice(0, MOST_NAMED).join(", ")}`;
  const count = found.length === 1 ? "1 process" : `${found.length} processes`;
  return `${count} of uid ${uid}, which no account has${what}${who}`;
}

function printable(path: string): string {
  return replaceUnprintable(path.slice(0, LONGEST_PATH), () => "?");
}
