/** Taking access away: every step is tried even if others fail, and what is left is reported, never thrown. */

import type { Account, AccountRef, Closing, JobsGone, KeyTaken } from "../protocol/host.ts";
import { publicMessage } from "../shared/errors.ts";
import type { PasswdEntry } from "./account.ts";
import { applyAll, attempt, completeTable, type Failure } from "./executor.ts";
import { type HostContext, hasMark, otherFiles, requireOurs, strangeHome, textOf } from "./host-context.ts";
import { copyJobs } from "./jobs/copy-jobs.ts";
import { type DeadKeys, deadKeyIn } from "./key-file/effective-keys.ts";
import { type KeyFile, keyFileOf } from "./key-file/key-path.ts";
import {
  type Change,
  planEndProcesses,
  planKeys,
  planMark,
  planNoJobs,
  planRetireKeys,
  planShut,
  SHUT_DAY,
} from "./plan/plan.ts";
import type { Mount } from "./safe-open.ts";

/** Shuts the account; see `Host.shutAccount`. Throws only `conflict`, before anything is touched. */
export async function shutAccount(
  context: HostContext,
  account: AccountRef & Pick<Account, "keepsJobs">,
): Promise<Closing> {
  return closingOf(await shut(context, requireOurs(context, account), account));
}

/** The results of shutting an account, and the outstanding work, grouped by subject. */
export interface Shutting {
  readonly refused: boolean;
  readonly date: readonly string[];
  readonly running: readonly string[];
  readonly keys: readonly string[];
  readonly scheduled: readonly string[];
  readonly home: readonly string[];
}

/** Everything that is owed, in the order in which it matters. */
export function closingOf({ refused, date, running, keys, scheduled, home }: Shutting): Closing {
  return { refused, owed: unique([...date, ...running, ...keys, ...scheduled, ...home]) };
}

/** Shuts the account that has this entry. */
export async function shut(
  context: HostContext,
  owner: PasswdEntry,
  { keepsJobs = false }: Pick<Account, "keepsJobs"> = {},
): Promise<Shutting> {
  const { settings, log } = context;
  const strange = strangeHome(owner);
  const files = await filesOf(context, owner);
  const plan = planShut(settings, owner, { others: files.others, keepsJobs });
  const clear = strange === undefined ? plan.clear : plan.clear.filter((change) => !isInHome(change));
  let refusing = await tryAll(context, plan.refuse);
  await makeReachable(context, owner);
  await tryAll(context, plan.first);
  if (!keepsJobs) await copyJobs(context, owner);
  let clearing = await tryAll(context, clear);
  // The account's own processes may have caused the failure, for example by using up all processes.
  if (refusing.length > 0) refusing = await tryAll(context, plan.refuse);
  if (clearing.length > 0) clearing = await tryAll(context, changesOf(clearing));
  const running = sentencesOf(await tryAll(context, plan.end));

  const dated = await isDated(context, owner, refusing);
  const left =
    strange === undefined
      ? await keysLeft(context, files, { dead: { kind: "all" }, mounts: context.executor.view.mounts() })
      : { own: [strange], outside: [] };
  // An administrator's file does not prevent shutting the account: the expiry date refuses those keys too.
  for (const sentence of left.outside) log.error(`security: ${sentence}`, { account: owner.name });
  const noKey = files.known && left.own.length + left.outside.length === 0;
  const reasons = sentencesOf(clearing.filter(({ change }) => isKeyFile(change)));
  return {
    refused: dated || noKey,
    date: dated ? [] : [refusing[0]?.sentence ?? `The expiry date of ${owner.name} could not be set`],
    running,
    keys: left.own.length === 0 || reasons.length === 0 ? left.own : reasons,
    scheduled: sentencesOf(clearing.filter(({ change }) => !isKeyFile(change) && !isHome(change))),
    home: sentencesOf(clearing.filter(({ change }) => isHome(change))),
  };
}

/** Takes one key away; see `Host.takeKey`. Throws only `conflict`, before anything is touched. */
export async function takeKey(context: HostContext, account: Account, fingerprint: string): Promise<KeyTaken> {
  const owner = requireOurs(context, account);
  const strange = strangeHome(owner);
  if (strange !== undefined) return { rewritten: false, problem: strange };
  let text: string;
  const files = await filesOf(context, owner);
  try {
    text = textOf(context, account);
  } catch (error) {
    return { rewritten: false, problem: publicMessage(error) };
  }
  const rewriting: Rewriting = { owner, files, text, dead: { kind: "key", fingerprint } };
  const first = await rewrite(context, rewriting);
  const [problem] = first.alive;
  if (problem !== undefined) return { rewritten: false, problem };
  if (context.settings.revokeEnds === "none") return { rewritten: true, owed: [...first.owed, ...files.unread] };
  const ended = await endSessions(context, account, fingerprint);
  // A process that was ended may have put the key back just before.
  const second = await rewrite(context, rewriting, { isAgain: true });
  const owed = unique([...second.alive, ...sentencesOf(ended.failures), ...second.owed, ...files.unread]);
  return { rewritten: true, owed, ...(ended.jobs && { jobs: ended.jobs }) };
}

/** The failures, and the outcome for scheduled jobs; undefined if there were none. */
type Ended = { readonly failures: readonly Failure[]; readonly jobs: JobsGone | undefined };

/**
 * Ends the sessions that no key of the account, other than the one with the fingerprint, is proven to have opened; or, if
 * that cannot be established, everything of the account. Scheduled jobs go either way: none says whose key planted it.
 */
export async function endSessions(context: HostContext, account: Account, fingerprint?: string): Promise<Ended> {
  const { settings, executor, log } = context;
  if (settings.revokeEnds === "account") return await endEverything(context, account);
  const endUnproven = async (): Promise<boolean> => {
    let spared = false;
    // If that is impossible, everything ends.
    await attempt(async () => {
      spared = await executor.endUnproven(account, fingerprint);
    }, log);
    return spared;
  };
  if (!(await endUnproven())) return await endEverything(context, account);
  const first = await removeJobs(context, account);
  // A job started just before may itself have scheduled one.
  const second = (await endUnproven()) ? await removeJobs(context, account) : await endEverything(context, account);
  return { ...second, jobs: first.jobs ?? second.jobs };
}

/** Everything that runs as the account, its scheduled jobs, and what those started meanwhile. */
export async function endEverything(context: HostContext, account: AccountRef): Promise<Ended> {
  const ending = await tryAll(context, planEndProcesses(account, true));
  const { failures, jobs } = await removeJobs(context, account);
  const left = ending.length > 0 ? ending : await tryAll(context, planEndProcesses(account));
  return { failures: [...left, ...failures], jobs };
}

async function removeJobs(context: HostContext, account: AccountRef): Promise<Ended> {
  const jobs = await copyJobs(context, account);
  return { failures: await tryAll(context, planNoJobs(account)), jobs };
}

/** Our file, the others that sshd reads, and whether sshd could tell. */
interface Files {
  readonly ours: KeyFile;
  readonly others: readonly KeyFile[];
  readonly known: boolean;
  /** Why sshd may read others besides, as a sentence; none if it cannot. */
  readonly unread: readonly string[];
}

async function filesOf(context: HostContext, owner: PasswdEntry): Promise<Files> {
  const { files, problem } = await otherFiles(context, owner);
  const ours = keyFileOf(context.settings.authorizedKeysFile, owner);
  const unread = problem === undefined ? [] : [problem];
  return { ours, others: files ?? [], known: files !== undefined && problem === undefined, unread };
}

interface Rewriting {
  readonly owner: PasswdEntry;
  readonly files: Files;
  readonly text: string;
  readonly dead: DeadKeys;
}

/**
 * Sentences about files in which the key may still be valid, and about what else is not as it should be. What was written before, and
 * `isAgain` to be as it should, is not written if it is.
 */
async function rewrite(
  context: HostContext,
  { owner, files, text, dead }: Rewriting,
  { isAgain = false } = {},
): Promise<{ readonly alive: readonly string[]; readonly owed: readonly string[] }> {
  const { view } = context.executor;
  await makeReachable(context, owner);
  const look = (mounts: readonly Mount[]) => lookAt(context, files.ours, { text, mounts });
  const before = isAgain ? await look(view.mounts()) : undefined;
  const writing = before?.isExact ? [] : planKeys(context.settings, owner, text, "take");
  const failures = await tryAll(context, [...writing, ...planRetireKeys(files.others)]);
  const mounts = view.mounts();
  const found = before?.isExact ? before : await look(mounts);
  // A file that is exactly as it should be holds no dead key, so one look is enough.
  const left = await keysLeft(context, files, { dead, mounts, isExact: found.isExact });
  const alive = [...left.own, ...left.outside];
  // The reason why a file of the account still has the key says more than the fact that it does.
  if (left.own.length > 0)
    return { alive: [failures[0]?.sentence ?? "", ...alive].filter((it) => it !== ""), owed: [] };
  if (alive.length > 0 || found.isExact) return { alive, owed: [] };
  const mine = failures.filter(({ change }) => change.kind === "write-keys");
  const changed = found.failed ?? `${files.ours.path} of ${owner.name} was changed again: ${found.difference}`;
  return { alive, owed: mine.length > 0 ? sentencesOf(mine) : [changed] };
}

/** Whether our file is exactly as it should be; if not, how it differs, or why that could not be seen. */
interface Found {
  readonly isExact: boolean;
  readonly difference?: string | undefined;
  readonly failed?: string | undefined;
}

async function lookAt(
  { executor, log }: HostContext,
  file: KeyFile,
  { text, mounts }: { readonly text: string; readonly mounts: readonly Mount[] },
): Promise<Found> {
  let difference: string | undefined;
  const failed = await attempt(async () => {
    difference = await executor.view.keyFileDifference(file, text, { mounts });
  }, log);
  return { isExact: failed === undefined && difference === undefined, difference, failed };
}

/** Which keys to look for, and whether our file was just found to be as it should be, so that it has none of them. */
interface LookingFor {
  readonly dead: DeadKeys;
  readonly mounts: readonly Mount[];
  readonly isExact?: boolean;
}

/** Sentences about the files that sshd reads and that may hold a dead key: the account's own, and the administrator's. */
async function keysLeft(
  { executor }: HostContext,
  { ours, others }: Files,
  { dead, mounts, isExact = false }: LookingFor,
): Promise<{ readonly own: readonly string[]; readonly outside: readonly string[] }> {
  const { view } = executor;
  const found: { readonly isOwn: boolean; readonly sentence: string }[] = [];
  for (const file of isExact ? others : [ours, ...others]) {
    // If the home is gone, as in the middle of a removal, there is no file in it.
    if (file.inHome && !view.exists(file.owner.home)) continue;
    const sentence = deadKeyIn(file, await view.keyFileText(file, { mounts }), dead);
    if (sentence !== undefined) found.push({ isOwn: file === ours || file.inHome, sentence });
  }
  const sentences = (isOwn: boolean) => found.filter((it) => it.isOwn === isOwn).map(({ sentence }) => sentence);
  return { own: sentences(true), outside: sentences(false) };
}

/** By the shadow entry; if that cannot be read, by whether the command succeeded. */
async function isDated({ executor }: HostContext, owner: PasswdEntry, failures: readonly Failure[]): Promise<boolean> {
  try {
    const { view } = executor;
    const entry = (await completeTable(view, view.accounts([owner]), [owner.name])).shadow?.get(owner.name);
    if (entry !== undefined) return entry.expires === SHUT_DAY;
  } catch {
    // The entry cannot be read: the command's own result must suffice.
  }
  return failures.length === 0;
}

/**
 * In sudo mode a key file can be changed only while the account is in our group: one that somebody took out is put back first. In direct
 * mode that is left to reconciling, which says so.
 */
export async function makeReachable(context: HostContext, owner: PasswdEntry): Promise<void> {
  if (context.settings.mode !== "sudo" || hasMark(context, owner)) return;
  context.log.warn("security: an account was no longer in our group; it is put back, to take access away", {
    account: owner.name,
    group: context.settings.markerGroup,
  });
  await tryAll(context, planMark(context.settings, owner));
}

/** Failures of changes that are not needed to take access away are logged, not returned. */
export async function tryAll({ executor, log }: HostContext, changes: readonly Change[]): Promise<readonly Failure[]> {
  const failures = await applyAll(executor, changes, log);
  for (const { change, sentence } of failures)
    log.warn(`Continuing without a step that failed on the host: ${sentence}`, { step: change.kind });
  return failures.filter(({ change }) => change.kind !== "detach-fuse" && change.kind !== "systemd-command");
}

function isInHome(change: Change): boolean {
  if (change.kind === "detach-fuse" || isHome(change)) return true;
  return isKeyFile(change) && change.file.inHome;
}

function isHome(change: Change): boolean {
  return change.kind === "shut-home";
}

function isKeyFile(change: Change): change is Extract<Change, { readonly file: KeyFile }> {
  return change.kind === "write-keys" || change.kind === "retire-keys";
}

function changesOf(failures: readonly Failure[]): readonly Change[] {
  return failures.map(({ change }) => change);
}

export function sentencesOf(failures: readonly Failure[]): readonly string[] {
  return failures.map(({ sentence }) => sentence);
}

export function unique(sentences: readonly string[]): readonly string[] {
  return [...new Set(sentences)];
}
