/** Taking away what an account may do beyond its profile. Nothing here stops at a failure. */

import type { Account, Closing } from "../../protocol/host.ts";
import type { PasswdEntry } from "../account.ts";
import { sentencesOf, tryAll, unique } from "../closing.ts";
import { attempt } from "../executor.ts";
import { type HostContext, requireOurs, strangeHome } from "../host-context.ts";
import { copyJobs } from "../jobs/copy-jobs.ts";
import { type Change, planEndProcesses, planNoJobs } from "../plan/plan.ts";
import { ownsHome, planShutHome } from "./home.ts";
import { type Ground, groundOf, makeOwnDirectory, planMembership } from "./membership.ts";

/** See `Host.narrowProfile`. Throws only `conflict`, before anything is touched. */
export async function narrowProfile(context: HostContext, account: Account): Promise<Closing> {
  const owner = requireOurs(context, account);
  const first = await joinGroups(context, account);
  const ended = await endAll(context, owner, { account, ground: first.ground });
  // What was just ended, or held a lock, may have kept the first step from being done.
  const joined = first.owed.length === 0 ? first : await joinGroups(context, account);
  const made = await giveOwnDirectory(context, account, joined.ground);
  return { refused: joined.owed.length === 0, owed: unique([...joined.owed, ...ended, ...made]) };
}

/** New sessions get what the profile says, and no more. */
async function joinGroups(
  context: HostContext,
  account: Account,
): Promise<{ readonly owed: readonly string[]; readonly ground: Ground | undefined }> {
  let ground: Ground | undefined;
  let owed: readonly string[] = [];
  const failed = await attempt(async () => {
    ground = groundOf(context, context.executor.view.accounts([account]), [account]);
    owed = sentencesOf(await tryAll(context, planMembership(context, ground, account)));
  }, context.log);
  return { owed: failed === undefined ? owed : [failed], ground };
}

/** Where it puts its files from now on, if files are all that it may have: opening an account makes it, and this one is open already. */
async function giveOwnDirectory(
  context: HostContext,
  account: Account,
  ground: Ground | undefined,
): Promise<readonly string[]> {
  if (ground === undefined || !account.open) return [];
  const failed = await attempt(async () => makeOwnDirectory(context, ground, account), context.log);
  return failed === undefined ? [] : [failed];
}

/** Everything that runs, what is scheduled, and the home of whoever has no shell, so that nothing begins in there by itself. */
async function endAll(
  context: HostContext,
  owner: PasswdEntry,
  { account, ground }: { readonly account: Account; readonly ground: Ground | undefined },
): Promise<readonly string[]> {
  const strange = strangeHome(owner);
  const hasShell = ground !== undefined && ownsHome(ground, account);
  await tryAll(context, planEndProcesses(owner, true));
  await copyJobs(context, owner);
  const clearing = await tryAll(context, planNoJobs(owner));
  const home = hasShell || strange !== undefined ? [] : await tryAll(context, planShutHome(owner));
  const ending = await tryAll(context, planEndProcesses(owner));
  if (!hasShell) await tryAll(context, planNoUnits(owner));
  return [
    ...sentencesOf(ending),
    ...sentencesOf(clearing),
    ...sentencesOf(home),
    ...(strange === undefined || hasShell ? [] : [strange]),
  ];
}

/** A manager of the user's units would find those again that lie in /run, which goes only when systemd stops what makes it. */
function planNoUnits({ uid }: PasswdEntry): readonly Change[] {
  return ["start", "stop"].map((verb) => ({
    kind: "systemd-command",
    argv: ["/usr/bin/systemctl", verb, `user-runtime-dir@${uid}.service`],
  }));
}
