/** The removal of an account, which can be resumed at any point: no failure prevents the rest from being done. */

import type { AccountRef, Closing } from "../protocol/host.ts";
import { type PasswdEntry, requireRef } from "./account.ts";
import { closingOf, endEverything, type Shutting, sentencesOf, shut, tryAll, unique } from "./closing.ts";
import { attempt, type Failure } from "./executor.ts";
import { foreignKeys } from "./foreign-keys.ts";
import { foreign, type HostContext, presenceOf, requireOurs, strangeHome } from "./host-context.ts";
import { expectedOwner, planBeforeRemoval, planEmptyTrash, planEndProcesses, planRemoveEntry } from "./plan/plan.ts";
import { listedOf } from "./processes/processes.ts";

const ENTRY_TRIES = 3;

/** Removes the account; see `Host.removeAccount`. Throws only `conflict`, before anything is touched. */
export async function removeAccount(context: HostContext, account: AccountRef): Promise<Closing> {
  requireRef(account);
  const presence = presenceOf(context, account);
  if (presence === "missing") return await removeLeftovers(context, account);
  return await removePresent(context, requireOurs(context, account));
}

/** The home is removed before the entry, so that no orphan is left under a uid. */
async function removePresent(context: HostContext, owner: PasswdEntry): Promise<Closing> {
  const shutting = await shut(context, owner);
  const strange = strangeHome(owner);
  const aside = strange === undefined ? await tryAll(context, planBeforeRemoval(context.settings, owner)) : [];
  if (aside.length > 0) return unfinished(shutting, sentencesOf(aside));
  const entry = await removeEntry(context, owner);
  if (entry.length > 0) return unfinished(shutting, entry);
  const trash = await tryAll(context, planEmptyTrash(context.settings, owner));
  const left = [...(strange === undefined ? [] : [strange]), ...sentencesOf(trash)];
  return { refused: true, owed: unique([...shutting.running, ...shutting.scheduled, ...left]) };
}

/** Without an entry the account can no longer log in; its leftovers are removed as the former account's. */
async function removeLeftovers(context: HostContext, account: AccountRef): Promise<Closing> {
  const { settings, executor, log } = context;
  let known = false;
  // By now the uid may belong to somebody whom only LDAP or the like knows.
  const unanswered = await attempt(async () => {
    known = await executor.view.uidKnown(account.uid);
  }, log);
  if (unanswered !== undefined) return { refused: true, owed: [unanswered] };
  if (known) throw foreign(account);
  const owner = expectedOwner(settings, account);
  const failures = [
    ...(await endEverything(context, account)).failures,
    ...(await tryAll(context, planBeforeRemoval(settings, owner))),
    ...(await tryAll(context, planEmptyTrash(settings, owner))),
  ];
  // sshd may know another account of the name, from elsewhere.
  const keys = await foreignKeys(context, account);
  return { refused: keys.length === 0, owed: unique([...keys, ...sentencesOf(failures)]) };
}

/** Sentences about why the entry is still there; none once it is gone. */
async function removeEntry(context: HostContext, owner: PasswdEntry): Promise<readonly string[]> {
  const { view } = context.executor;
  let failures: readonly Failure[] = [];
  for (let attempts = 1; attempts <= ENTRY_TRIES; attempts++) {
    failures = await tryAll(context, planRemoveEntry(owner));
    // userdel refuses while a process runs as the uid; a process that was just ended may have started one.
    if (failures.length === 0 || listedOf(view.processes(), owner.uid).length === 0) break;
    await tryAll(context, planEndProcesses(owner));
  }
  if (failures.length > 0) return sentencesOf(failures);
  const left = view.accounts([]);
  const isLeft = left.passwd.has(owner.name) || left.shadow?.has(owner.name) === true;
  return isLeft ? [`The account ${owner.name} is still there after userdel`] : [];
}

function unfinished(shutting: Shutting, sentences: readonly string[]): Closing {
  const { refused, owed } = closingOf(shutting);
  return { refused, owed: unique([...owed, ...sentences]) };
}
