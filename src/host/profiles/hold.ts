/** Holding profiles: the groups, what sshd and sudo include, and asking sshd whether it is so. */

import { closeSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Purpose } from "../../protocol/host.ts";
import type { HostProfile, ProfileState } from "../../protocol/profile.ts";
import { isWithin } from "../../protocol/profile-order.ts";
import { UamError } from "../../shared/errors.ts";
import { MINUTE } from "../../shared/time/clock.ts";
import { readAccounts } from "../account.ts";
import { createMutex } from "../command.ts";
import { applyInOrder, attempt } from "../executor.ts";
import type { HostContext } from "../host-context.ts";
import { lacksOf } from "./host-requirements.ts";
import { planGroup } from "./membership.ts";
import { groupOf, isProfileGroup, PROFILED_GROUP, type ProfilePaths, sshdFileIn } from "./names.ts";
import { faultOfProfile } from "./profile-check.ts";
import { openProfiles, pathsOf, placeText, textIn } from "./profile-files.ts";
import { reloadSshd } from "./reload.ts";
import { faultForAccount } from "./sshd-answer.ts";
import { type Block, blocksIn, renderBlocks } from "./sshd-blocks.ts";
import { faultOfInclude, refusalBySshd } from "./sshd-include.ts";
import { faultOfSudo, placeRules, rulesOf } from "./sudo.ts";

/** See `Host.holdProfiles`. */
export async function holdProfiles(
  context: HostContext,
  profiles: readonly HostProfile[],
  { purpose, onLess }: Pick<Holding, "purpose" | "onLess">,
): Promise<readonly ProfileState[]> {
  const { settings, log } = context;
  if (settings.mode === "dry-run") {
    for (const { name, kind } of profiles) log.info("would hold a profile", { profile: name, kind, purpose });
    return profiles.map(({ name }) => ({ name, state: "applied" }));
  }
  if (settings.mode === "sudo") return statesOf(profiles, new Map(), "Profiles need direct mode");
  const problems = new Map<string, string>();
  const whole = await attempt(() => oneAtATime(() => hold(context, { profiles, purpose, problems, onLess })), log);
  return statesOf(profiles, problems, whole);
}

const oneAtATime = createMutex();
/**
 * The file that sshd was last told to read by this process, by its path: a process that ended may not have told it, and another that is at work beside
 * this one may have told it something else since, even if the file says again what it said.
 */
const told = new Map<string, string>();
const TURN = { look: 50, patience: MINUTE } as const;

interface Holding {
  readonly profiles: readonly HostProfile[];
  readonly purpose: Purpose;
  /** See `Host.holdProfiles`. */
  readonly onLess: ((names: readonly string[]) => Promise<void>) | undefined;
  /** The first problem of each profile, by its name. */
  readonly problems: Map<string, string>;
}

async function hold(context: HostContext, holding: Holding): Promise<void> {
  const paths = pathsOf(context.settings);
  const { profiles, problems } = holding;
  if (profiles.length === 0 && textIn(sshdFileIn(paths.directory)) === "") return;
  const directory = openProfiles(paths);
  try {
    await takeTurn(context, directory);
    const note = (name: string, problem: string | undefined) => {
      if (problem !== undefined && !problems.has(name)) problems.set(name, problem);
    };
    const unread = faultOfInclude(context.settings, paths);
    for (const profile of profiles) note(profile.name, faultOfProfile(profile) ?? unread);
    const possible = profiles.filter((profile) => faultOfProfile(profile) === undefined);
    const rules = await rulesOf(possible, paths);
    const lessened = lessenedBy(blocksIn(textIn(sshdFileIn(paths.directory))), possible);
    if (lessened.length > 0) await holding.onLess?.(lessened);
    // Whoever loses rights loses those of root first.
    if (holding.purpose === "take") placeRules(rules.texts, paths);
    await makeGroups(context, possible, note);
    await holdBlocks(context, { directory, paths, possible, purpose: holding.purpose, note });
    placeRules(rules.texts, paths);
    for (const [name, fault] of rules.faults) note(name, fault);
    for (const { name, sudo = [], kind } of possible)
      if (kind === "shell" && sudo.length > 0) note(name, faultOfSudo(paths));
    await removeGroups(context, possible);
  } finally {
    closeSync(directory);
  }
}

/** The names of those that let accounts do more as they are held than they are to. Pure. */
export function lessenedBy(held: readonly Block[], wanted: readonly HostProfile[]): readonly string[] {
  const before = new Map(held.flatMap(({ profile, isShut }) => (isShut ? [] : [[profile.name, profile]])));
  return wanted.flatMap((profile) => {
    const old = before.get(profile.name);
    return old === undefined || isWithin(old, profile) ? [] : [profile.name];
  });
}

type Note = (name: string, problem: string | undefined) => void;

interface Blocks {
  readonly directory: number;
  readonly paths: ProfilePaths;
  readonly possible: readonly HostProfile[];
  readonly purpose: Purpose;
  readonly note: Note;
}

async function holdBlocks(context: HostContext, blocks: Blocks): Promise<void> {
  const { directory, paths, possible, purpose, note } = blocks;
  const { settings } = context;
  const before = textIn(sshdFileIn(paths.directory));
  const wanted: Block[] = [];
  for (const profile of possible) {
    const lacks = lacksOf(profile, settings, paths);
    for (const lack of [...lacks.shut, ...lacks.without]) note(profile.name, lack);
    wanted.push({ profile, isShut: lacks.shut.length > 0 });
  }
  const accepted = renderBlocks(wanted) === before ? wanted : await acceptedBySshd(context, blocks, wanted);
  await place(context, blocks, renderBlocks(accepted));
  const differing = await askAbout(context, accepted, note);
  if (purpose === "take" || differing.size === 0) return;
  // What would give something else than it says is not given.
  const old = new Map(blocksIn(before).map((block) => [block.profile.name, block]));
  const back = accepted.flatMap((block) => {
    const { name } = block.profile;
    return differing.has(name) ? [old.get(name) ?? { ...block, isShut: true }] : [block];
  });
  await place(context, { directory, paths }, renderBlocks(back));
}

/** The blocks, those shut that this sshd cannot read. Throws what keeps it from reading any. */
async function acceptedBySshd(
  { settings }: HostContext,
  { directory, paths, note }: Blocks,
  blocks: readonly Block[],
): Promise<readonly Block[]> {
  const refusal = (tried: readonly Block[]) => refusalBySshd(settings, { directory, paths, text: renderBlocks(tried) });
  if ((await refusal(blocks)) === undefined) return blocks;
  const none = await refusal([]);
  if (none !== undefined) throw new UamError("internal", none);
  const accepted: Block[] = [];
  for (const block of blocks) {
    const refused = await refusal([block]);
    note(block.profile.name, refused);
    accepted.push(refused === undefined ? block : { ...block, isShut: true });
  }
  return accepted;
}

async function place(
  { log }: HostContext,
  { directory, paths }: Pick<Blocks, "directory" | "paths">,
  text: string,
): Promise<void> {
  const path = sshdFileIn(paths.directory);
  if (textIn(path) !== text) placeText(directory, path.slice(paths.directory.length + 1), text, 0o600);
  const file = identityOf(path);
  if (told.get(path) === file) return;
  told.delete(path);
  if (!(await reloadSshd())) throw new UamError("internal", "sshd does not read its configuration anew: reload it");
  told.set(path, file);
  log.info("sshd was told what profiles allow", { path });
}

/** What no other file that was ever in its place has: each comes there by a rename, which changes the second. */
function identityOf(path: string): string {
  const { ino, ctimeNs } = statSync(path, { bigint: true });
  return `${ino} ${ctimeNs}`;
}

/** The names of the profiles that do not hold for one of their accounts, as far as they have any. */
async function askAbout(context: HostContext, blocks: readonly Block[], note: Note): Promise<ReadonlySet<string>> {
  const { groups, passwd } = readAccounts();
  const differing = new Set<string>();
  for (const block of blocks) {
    const { name } = block.profile;
    const member = [...(groups.get(groupOf(name))?.members ?? [])].find((one) => passwd.has(one));
    // No account has it yet: sshd is asked before the first one opens.
    if (member === undefined) continue;
    const fault = await faultForAccount(context, block, member);
    if (fault === undefined) continue;
    note(name, fault);
    differing.add(name);
  }
  return differing;
}

async function makeGroups({ executor, log }: HostContext, profiles: readonly HostProfile[], note: Note): Promise<void> {
  const { groups } = readAccounts();
  const make = async (group: string) => {
    if (!groups.has(group)) await applyInOrder(executor, planGroup(group));
  };
  await make(PROFILED_GROUP);
  for (const { name } of profiles) note(name, await attempt(() => make(groupOf(name)), log));
}

/** Those of profiles that are no longer held, once nobody is in them. */
async function removeGroups({ executor, log }: HostContext, profiles: readonly HostProfile[]): Promise<void> {
  const kept = new Set([PROFILED_GROUP, ...profiles.map(({ name }) => groupOf(name))]);
  for (const [group, { members }] of readAccounts().groups) {
    if (!isProfileGroup(group) || kept.has(group) || members.size > 0) continue;
    const change = { kind: "account-command", argv: ["/usr/sbin/groupdel", "--", group], accept: [0, 6] } as const;
    await attempt(() => executor.apply(change), log);
  }
}

async function takeTurn({ lockFile }: HostContext, directory: number): Promise<void> {
  const end = performance.now() + TURN.patience;
  while (lockFile !== undefined && !lockFile(directory)) {
    if (performance.now() > end)
      throw new UamError("internal", "Another process has been at work on profiles for too long");
    await sleep(TURN.look);
  }
}

function statesOf(
  profiles: readonly HostProfile[],
  problems: ReadonlyMap<string, string>,
  whole: string | undefined,
): readonly ProfileState[] {
  return profiles.map(({ name }) => {
    const problem = problems.get(name) ?? whole;
    return problem === undefined ? { name, state: "applied" } : { name, state: "problem", problem };
  });
}
