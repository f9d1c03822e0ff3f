/**
 * Taking a part of the access away: that from outside the networks from where keys may be used, and that after an earlier end. Like
 * closing.ts, nothing here stops at a failure.
 */

import type { Account } from "../protocol/host.ts";
import { publicMessage } from "../shared/errors.ts";
import type { PasswdEntry } from "./account.ts";
import { endEverything, makeReachable, sentencesOf, tryAll, unique } from "./closing.ts";
import { attempt, completeTable, type Failure } from "./executor.ts";
import { type HostContext, otherFiles, requireOurs, strangeHome, textOf } from "./host-context.ts";
import { readAuthorizedKeys } from "./key-file/authorized-keys.ts";
import { type KeyFile, keyFileOf } from "./key-file/key-path.ts";
import { planKeys, planRetireKeys, planShadow, wantedShadow } from "./plan/plan.ts";

/** Whether any of the account's keys may not be used from everywhere. */
export function hasNetworks({ keys }: Account): boolean {
  return keys.some(({ networks }) => networks !== undefined);
}

/** See `Host.narrowKeys`. Throws only `conflict`, before anything is touched. */
export async function narrowKeys(context: HostContext, account: Account): Promise<readonly string[]> {
  const owner = requireOurs(context, account);
  const strange = strangeHome(owner);
  const first = strange === undefined ? await rewrite(context, account, owner) : [strange];
  const sessions = sentencesOf(await endFromOutside(context, account));
  if (strange !== undefined || context.settings.revokeEnds === "none") return [...first, ...sessions];
  // The processes just ended may have changed the file before they ended.
  return unique([...(await rewrite(context, account, owner)), ...sessions]);
}

/** See `Host.shortenAccount`. Throws only `conflict`, before anything is touched. */
export async function shortenAccount(context: HostContext, account: Account): Promise<readonly string[]> {
  const owner = requireOurs(context, account);
  const strange = strangeHome(owner);
  const first = strange === undefined ? await rewrite(context, account, owner, "end") : [strange];
  return unique([...first, ...(await shortenDate(context, account))]);
}

/** An account with an earlier date, such as that of one that is shut, keeps it. */
async function shortenDate(context: HostContext, account: Account): Promise<readonly string[]> {
  const { view } = context.executor;
  const { expires } = wantedShadow(account);
  let failures: readonly Failure[] = [];
  const failed = await attempt(async () => {
    const table = await completeTable(view, view.accounts([account]), [account.name]);
    const now = table.shadow?.get(account.name)?.expires;
    if (now === undefined || now > expires) failures = await tryAll(context, planShadow(account));
  }, context.log);
  return failed === undefined ? sentencesOf(failures) : [failed];
}

/**
 * Ends the sessions from outside the keys' networks, unless a revocation ends none; if that cannot be done, everything of the
 * account. Returns what failed.
 */
export async function endFromOutside(context: HostContext, account: Account): Promise<readonly Failure[]> {
  const { settings, executor, log } = context;
  if (settings.revokeEnds === "none") return [];
  let isDone = false;
  // If they cannot be looked at, or one cannot be ended, everything ends.
  await attempt(async () => {
    isDone = await executor.endOutside(account);
  }, log);
  return isDone ? [] : (await endEverything(context, account)).failures;
}

/** The part of the access that is taken away: from outside networks, or after an end. */
type Part = "networks" | "end";

/** Sentences about files that may let keys in from more places, or for longer, than they should. */
async function rewrite(
  context: HostContext,
  account: Account,
  owner: PasswdEntry,
  part: Part = "networks",
): Promise<readonly string[]> {
  const { settings, executor, log } = context;
  await makeReachable(context, owner);
  const ours = keyFileOf(settings.authorizedKeysFile, owner);
  const { files: others = [], problem } = await otherFiles(context, owner);
  let text: string;
  try {
    text = textOf(context, account);
  } catch (error) {
    return [publicMessage(error)];
  }
  const failures = await tryAll(context, [...planKeys(settings, owner, text, "take"), ...planRetireKeys(others)]);
  const left: string[] = problem === undefined ? [] : [problem];
  const failed = await attempt(async () => {
    const ground = { mounts: executor.view.mounts() };
    const difference = await executor.view.keyFileDifference(ours, text, ground);
    if (difference !== undefined) left.push(`${ours.path} of ${owner.name} was changed again: ${difference}`);
    for (const file of others) left.push(...(await copiesIn(context, file, { account, part })));
  }, log);
  if (failed !== undefined) left.push(failed);
  // The reason why a file could not be written says more than what it has.
  return left.length === 0 ? [] : unique([...sentencesOf(failures), ...left]);
}

/** A sentence if the file, which sshd also reads, has a key to which more than it says is refused, or may have one. */
async function copiesIn(
  { executor }: HostContext,
  file: KeyFile,
  { account, part }: { readonly account: Account; readonly part: Part },
): Promise<readonly string[]> {
  const { view } = executor;
  const { text, problem } = await view.keyFileText(file, { mounts: view.mounts() });
  if (problem !== undefined) return [`sshd reads keys of ${account.name} from ${file.path}, which ${problem}`];
  const bound = account.keys.filter(({ networks }) => part === "end" || networks !== undefined);
  const known = new Set(bound.map(({ base64 }) => base64));
  if (!readAuthorizedKeys(text).some(({ base64 }) => known.has(base64))) return [];
  const more = part === "end" ? "for longer" : "from anywhere";
  const sentence = `sshd also reads a key of ${account.name} from ${file.path}, where it may be used ${more}`;
  return [`${sentence}: remove it there`];
}
