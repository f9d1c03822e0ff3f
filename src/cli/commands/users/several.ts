/** A change to several users: confirmed once, and made one user at a time for each, whatever becomes of the others. */

import type { Confirmation } from "../../../domain/hosts/confirmation.ts";
import type { Context } from "../../../domain/operation/context.ts";
import type { UserPreview } from "../../../domain/users/preview.ts";
import type { ChangeOptions } from "../../../domain/users/row-lock.ts";
import { publicMessage, UamError } from "../../../shared/errors.ts";
import { counted, namedUpTo } from "../../../shared/text/counted.ts";
import { printableJson } from "../../../shared/text/text.ts";
import type { UserRow } from "../../../store/schema.ts";
import { type CliEnvironment, type Command, EXIT, stopSignal, withServices } from "../../terminal/environment.ts";
import { visible } from "../../terminal/output.ts";
import { filterText, type Selection, selectionFault, selectUsers } from "../../terminal/user-selection.ts";
import { awaitHostsOf, hostsSentence } from "./hosts-confirmed.ts";

/** How many users are changed at the same time: each change holds one of the connections to the database. */
const LANES = 4;
/** So many are named before the confirmation. */
const NAMED = 20;
/** Columns of a list of names. */
const WIDTH = 76;

/** A change, and whom it concerns. */
export interface SeveralChange {
  readonly selection: Selection;
  readonly yes: boolean;
  readonly json: boolean;
  readonly reason: string | undefined;
  /** "delete", "deleted" and "Deleting". */
  readonly words: { readonly verb: string; readonly done: string; readonly doing: string };
  /** Follows "3 users are to be deleted", such as ", with their home directories". */
  readonly how: string;
  /** The number of users has to be typed: there is no way back. */
  readonly isFinal?: boolean;
  /** True if there is nothing to change for a user whom the filter found. */
  readonly leavesOut?: (status: UserRow["status"]) => boolean;
  /** Makes the change; the record is the user's as they then are, and `note` follows "deleted". */
  readonly make: (context: Context, user: UserRow, options: ChangeOptions) => Promise<Made>;
  readonly preview: (context: Context, user: UserRow) => Promise<UserPreview>;
  /** Whether hosts with agents are waited for. */
  readonly closes: boolean;
}

/** A change that was made. */
export interface Made {
  readonly record: Readonly<Record<string, unknown>>;
  readonly note?: string;
}

/** Makes the change, after one confirmation. Fails if it was not made for everybody; a usage error if nobody can be asked. */
export function changeSeveral(change: SeveralChange): Command {
  return async (environment) => {
    const { selection, yes, words } = change;
    const fault = selectionFault(selection);
    if (fault !== undefined) return refuse(environment, fault);
    if (!yes && environment.ask === undefined)
      return refuse(environment, `${words.doing} several users needs --yes if there is no terminal to ask at.`);
    return await withServices(environment, "change", async (context) => {
      const signal = stopSignal(environment);
      const users = await choose(environment, context, change);
      if (users.length === 0) return EXIT.failed;
      if (!yes && !(await isConfirmed(environment, change, users))) {
        environment.err("Nothing was changed.\n");
        return EXIT.failed;
      }
      const outcomes = await makeAll(environment, context, { change, users, signal });
      const hosts = change.closes ? await awaitAllHosts(context, outcomes, signal) : new Map<number, Confirmation>();
      if (change.json) await printOutcomes(environment, context, { outcomes, hosts });
      say(environment, change, outcomes);
      sayHosts(environment, outcomes, hosts);
      return outcomes.every(({ made }) => made !== undefined) ? EXIT.done : EXIT.failed;
    });
  };
}

/** Says for each user what the change would do. Fails if it would be refused for somebody. */
export function previewSeveral(change: SeveralChange): Command {
  return async (environment) => {
    const fault = selectionFault(change.selection);
    if (fault !== undefined) return refuse(environment, fault);
    return await withServices(environment, "read", async (context) => {
      const users = await choose(environment, context, change);
      let isPossible = users.length > 0;
      for (const user of users) {
        if (!(await previewOne(environment, context, { change, user }))) isPossible = false;
      }
      environment.err("Nothing was changed.\n");
      return isPossible ? EXIT.done : EXIT.failed;
    });
  };
}

/** A command that was given the wrong arguments. */
export function refused(fault: string): Command {
  return async (environment) => refuse(environment, fault);
}

function refuse(environment: CliEnvironment, fault: string): number {
  environment.err(`uam: ${fault}\n`);
  return EXIT.usage;
}

/** Whom the change concerns; says so where that is nobody, and who is left out. */
async function choose(
  environment: CliEnvironment,
  context: Context,
  { selection, leavesOut }: SeveralChange,
): Promise<readonly UserRow[]> {
  const { statusAt } = await import("../../../domain/accounts/find-user.ts");
  const found = await selectUsers(context, selection);
  const filter = filterText(selection);
  if (filter === "" || leavesOut === undefined || selection.status !== undefined) {
    if (found.length === 0) environment.err(`${visible(`uam: No user matches ${filter}.`)}\n`);
    return found;
  }
  const now = context.clock.now();
  const out = found.filter((user) => leavesOut(statusAt(user, now)));
  if (out.length > 0) {
    const names = out.map((user) => `${user.username} (${statusAt(user, now)})`);
    environment.err(`${counted(out.length, "user")} left out, without access already:\n${listed(names)}`);
  }
  const rest = found.filter((user) => !out.includes(user));
  if (rest.length === 0) environment.err(`${visible(`uam: No user with access matches ${filter}.`)}\n`);
  return rest;
}

async function isConfirmed(
  { ask, err }: CliEnvironment,
  { words, how, isFinal }: SeveralChange,
  users: readonly UserRow[],
): Promise<boolean> {
  const are = users.length === 1 ? "is" : "are";
  const them = users.length === 1 ? "this user" : "them";
  err(`${counted(users.length, "user")} ${are} to be ${words.done}${how}:\n`);
  err(listed(users.map(({ username }) => username)));
  if (isFinal === true && users.length > 1) {
    const answer = await ask?.(`This cannot be undone. Type ${users.length} to ${words.verb} them: `);
    return answer?.trim() === String(users.length);
  }
  const verb = words.verb.replace(/^./, (first) => first.toUpperCase());
  return /^y(es)?$/i.test((await ask?.(`${verb} ${them}? [y/N] `)) ?? "");
}

/** The first names, in lines of words, and how many more there are. */
function listed(names: readonly string[]): string {
  return inLines(namedUpTo(NAMED, names));
}

/** The words in indented lines. */
function inLines(text: string): string {
  return text.replace(new RegExp(`(?=\\S)(.{1,${WIDTH}})(?: +|$)`, "g"), "  $1\n");
}

/** The outcome for a user; without either, the change was not begun. */
interface Outcome {
  readonly user: UserRow;
  readonly made?: Made;
  readonly problem?: UamError | string;
}

interface Run {
  readonly change: SeveralChange;
  readonly users: readonly UserRow[];
  readonly signal: AbortSignal;
}

/** Each user's change is its own operation. A stop lets those under way finish, and begins no other. */
async function makeAll(
  environment: CliEnvironment,
  context: Context,
  { change, users, signal }: Run,
): Promise<readonly Outcome[]> {
  const { reason, words } = change;
  const outcomes: Outcome[] = [];
  // Shared, so that each lane takes the next user.
  const queue = users.values();
  async function work(): Promise<void> {
    for (const user of queue) {
      if (signal.aborted) {
        outcomes.push({ user });
        continue;
      }
      try {
        const made = await change.make(context, user, { reason, unchangedSince: user.updatedAt });
        outcomes.push({ user, made });
        if (!change.json) environment.out(`${user.username}: ${words.done}${made.note ?? ""}\n`);
      } catch (error) {
        if (!(error instanceof UamError)) context.log.error("a change to a user failed", { userId: user.id, error });
        outcomes.push({ user, problem: error instanceof UamError ? error : publicMessage(error) });
      }
    }
  }
  await Promise.all(Array.from({ length: LANES }, work));
  return outcomes;
}

/** Waits for the hosts of all users together no longer than for those of one, and returns what each user's have confirmed. */
async function awaitAllHosts(
  context: Context,
  outcomes: readonly Outcome[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, Confirmation>> {
  const end = performance.now() + context.policy.fleetWait;
  const known = new Map<number, Confirmation>();
  for (const { user, made } of outcomes) {
    if (made === undefined) continue;
    const fleetWait = signal.aborted ? 0 : Math.max(0, end - performance.now());
    const hosts = await awaitHostsOf({ ...context, policy: { ...context.policy, fleetWait } }, user.id);
    if (hosts !== undefined) known.set(user.id, hosts);
  }
  return known;
}

/** Says how many were changed, for whom it failed and why, and who was not begun. */
function say(environment: CliEnvironment, { words }: SeveralChange, outcomes: readonly Outcome[]): void {
  const made = outcomes.filter((outcome) => outcome.made !== undefined).length;
  const of = made === outcomes.length ? "" : ` of ${outcomes.length}`;
  const verb = words.done.replace(/^./, (first) => first.toUpperCase());
  environment.err(of === "" ? `${verb} ${counted(made, "user")}.\n` : `${verb} ${made}${of} users.\n`);
  for (const { user, problem } of outcomes)
    if (problem !== undefined) environment.err(`${visible(`Failed for ${user.username}: ${sentenceOf(problem)}`)}\n`);
  const rest = outcomes.filter(isLeft).map(({ user }) => user.username);
  if (rest.length > 0) environment.err(`Not begun, because the command was stopped:\n${inLines(rest.join(", "))}`);
}

/** Hosts that have not confirmed are named for each user; the others are one sentence. */
function sayHosts(
  environment: CliEnvironment,
  outcomes: readonly Outcome[],
  hosts: ReadonlyMap<number, Confirmation>,
): void {
  if (hosts.size === 0) return;
  const waiting = outcomes.filter(({ user }) => {
    const known = hosts.get(user.id);
    return known !== undefined && known.confirmed < known.total;
  });
  if (waiting.length === 0) environment.err("The further hosts confirmed all of it.\n");
  for (const { user } of waiting) {
    const known = hosts.get(user.id);
    if (known !== undefined) environment.err(`${visible(`${user.username}: ${hostsSentence(known)}`)}\n`);
  }
}

/** One object a user, on a line of its own. */
async function printOutcomes(
  environment: CliEnvironment,
  context: Context,
  { outcomes, hosts }: { readonly outcomes: readonly Outcome[]; readonly hosts: ReadonlyMap<number, Confirmation> },
): Promise<void> {
  const { hostsRecord, userRecord } = await import("../../../server/records.ts");
  const now = context.clock.now();
  for (const { user, made, problem } of outcomes) {
    const outcome = made !== undefined ? "done" : problem !== undefined ? "failed" : "not_begun";
    const why = problem === undefined ? {} : { error: sentenceOf(problem) };
    const reason = problem instanceof UamError ? { reason: problem.reason } : {};
    const record = made === undefined ? userRecord(user, now) : { ...made.record, ...hostsRecord(hosts.get(user.id)) };
    environment.out(`${printableJson({ outcome, ...why, ...reason, ...record })}\n`);
  }
}

async function previewOne(
  environment: CliEnvironment,
  context: Context,
  { change, user }: { readonly change: SeveralChange; readonly user: UserRow },
): Promise<boolean> {
  const { userPreviewRecord } = await import("../../../server/records.ts");
  const { id, username } = user;
  try {
    const record = userPreviewRecord(await change.preview(context, user));
    if (change.json) environment.out(`${printableJson({ id, username, ...record })}\n`);
    else {
      environment.out(`${username}:\n${record.effects.map((effect) => `  ${visible(effect)}\n`).join("")}`);
      for (const line of record.host) environment.out(`    ${visible(line)}\n`);
    }
    return true;
  } catch (error) {
    if (!(error instanceof UamError)) throw error;
    const { message, reason } = error;
    if (change.json) environment.out(`${printableJson({ id, username, preview: true, error: message, reason })}\n`);
    else environment.out(`${username}:\n  Not possible: ${visible(message)}\n`);
    return false;
  }
}

function isLeft({ made, problem }: Outcome): boolean {
  return made === undefined && problem === undefined;
}

function sentenceOf(problem: UamError | string): string {
  return typeof problem === "string" ? problem : problem.message;
}
