/**
 * Has the service's own host follow what binds a user there. It is stored first, as hours are: what it takes away is noted with it, so that a
 * crash in between leaves it owed, and what it gives is put right by the next comparison of the host at the latest.
 */

import { eq } from "drizzle-orm";
import type { Account, Host } from "../../protocol/host.ts";
import type { ProfileState } from "../../protocol/profile.ts";
import { isWithin, type Profile } from "../../protocol/profile-order.ts";
import { publicMessage, UamError } from "../../shared/errors.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { closings, LOCAL_HOST } from "../../store/schema.ts";
import { hosts } from "../../store/schema-fleet.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { ClosingOperation, Context, Operation } from "../operation/context.ts";
import { restoreAccess, shutOnHost } from "./access.ts";
import { accountOf } from "./account.ts";
import { type Closing, closingsOf, oweClosing, settleClosing } from "./closings.ts";
import { lockUserIfStored, type User } from "./find-user.ts";
import { takePartOnHost } from "./part-on-host.ts";
import { asksProof, profileHere } from "./profiles.ts";

/** What a change means on the service's own host: nothing, more, or less in any way. */
export type ProfileStep = "none" | "gives" | "takes";

/** Notes, with the operation that stores the change, what the host has to take away from the user; returns what it means there. */
export async function noteProfile(op: Operation, before: User, after: User): Promise<ProfileStep> {
  const step = stepOf(before, after);
  if (step === "takes") await noteNarrower(op, [after.id]);
  return step;
}

function stepOf(before: User, after: User): ProfileStep {
  const [old, now] = [profileHere(before), profileHere(after)];
  if (!after.local || !before.local) return "none";
  if (takesAway(old, now)) return "takes";
  return nameOf(old) === nameOf(now) ? "none" : "gives";
}

/** Whether something may be done before and not after; "incomparable" allows nothing. */
export function takesAway(before: Profile | "incomparable", after: Profile | "incomparable"): boolean {
  if (before === "incomparable") return false;
  return after === "incomparable" || !isWithin(before, after);
}

function nameOf(profile: Profile | "incomparable"): string | undefined {
  return profile === "incomparable" ? profile : profile?.name;
}

/** Notes, with the operation that stores why, that these users may do less on the service's own host: what they have open there has to end. */
export async function noteNarrower(
  { tx, context }: Pick<Operation, "tx" | "context">,
  userIds: readonly number[],
): Promise<void> {
  if (userIds.length === 0) return;
  const { actor, clock } = context;
  const now = clock.now();
  const by = { action: "", actorType: actor.type, actor: actor.name, actorOwner: actor.owner ?? "" };
  const again = { begunAt: now, dueAt: now, attempts: 0, problem: "" };
  await tx
    .insert(closings)
    .values(userIds.map((userId) => ({ userId, kind: "profile" as const, ...by, ...again })))
    .onConflictDoUpdate({ target: [closings.userId, closings.kind, closings.keyId], set: { ...by, ...again } });
}

/**
 * Has the host follow a change that is stored. Throws `internal` if it cannot do all of it, which is tried again until it is done: what is
 * taken away is owed.
 */
export async function followProfile(context: Context, userId: number, step: ProfileStep): Promise<void> {
  if (step === "none") return;
  if (step === "takes") return await takeByProfile(context, userId);
  try {
    await restoreAccess(context, { id: userId, username: "", uid: 0 });
  } catch (error) {
    const sentence = `The profile is stored, but the host does not follow it yet; this is tried again until it does: ${publicMessage(error)}`;
    throw new UamError("internal", sentence, { cause: error, reason: "access.owed" });
  }
}

async function takeByProfile(context: Context, userId: number): Promise<void> {
  const entry = { action: "user.update", resourceId: String(userId), subjectId: userId } as const;
  await auditedClosing(context, entry, async (op) => {
    const user = await lockUserIfStored(op.tx, userId);
    const noted = (await closingsOf(op.tx, userId)).find(({ kind }) => kind === "profile");
    // Somebody else has done it.
    if (user === undefined || noted === undefined) return op.record({ unneeded: true });
    op.about({ detail: { username: user.username } });
    const owed = await finishProfile(op, user, noted);
    if (owed.length > 0) op.refuse(profileOwed(user, owed));
    else op.record({ unneeded: true });
  });
}

/**
 * Ends what the user may no longer do, new sessions first, or goes on with it; returns the remaining work, which is owed. On record only if it
 * was owed before: the change itself is.
 */
export async function finishProfile(op: ClosingOperation, user: User, noted: Closing): Promise<readonly string[]> {
  const account = await accountOf(op.tx, user, op.context.clock.now());
  op.begun(unfinished(user));
  const owed = [
    ...(profileHere(user) === "incomparable"
      ? (await shutOnHost(op, user, true)).owed
      : await takePartOnHost(op, user, account, {
          take: (host, narrowed) => takeByHost(host, narrowed, profileHere(user)),
          failure: "what an account may do could not be narrowed on the host; this will be retried",
        })),
  ];
  faultPoint("closing: host done, not stored");
  owed.push(...(await notHeld(op, user)));
  if (owed.length === 0) await settleClosing(op.tx, noted.id);
  else await oweClosing(op, noted.id, { user, owed, recorded: true });
  if (owed.length > 0 || noted.problem === "") op.record({ unneeded: true });
  else op.record({ detail: { found: noted.problem, done: "what was left of narrowing what the account may do" } });
  return owed;
}

async function takeByHost(host: Host, account: Account, profile: Profile | "incomparable"): Promise<readonly string[]> {
  if (!asksProof(profile)) return (await host.narrowProfile(account)).owed;
  // Keys without proof leave the file before what they opened ends; and what ended may have put them back.
  await host.narrowKeys(account);
  const { owed } = await host.narrowProfile(account);
  return [...owed, ...(await host.narrowKeys(account))];
}

/** A sentence if the host does not hold the profile as it is stored: new sessions may have more by an earlier form of it. */
async function notHeld({ tx }: ClosingOperation, user: User): Promise<readonly string[]> {
  const name = nameOf(profileHere(user));
  const [row] = await tx.select({ said: hosts.profiles }).from(hosts).where(eq(hosts.id, LOCAL_HOST));
  const states = JSON.parse(row?.said ?? "[]") as readonly ProfileState[];
  return states.flatMap((one) => (one.name === name && one.state === "problem" ? [one.problem] : []));
}

function profileOwed({ username }: User, owed: readonly string[]): string {
  return `The profile of ${username} is stored, but they may still do more on the host until this is done. Left to do, and tried again until it is done: ${owed.join(". ")}`;
}

/** The message to the caller if the database fails meanwhile. */
function unfinished({ username }: User): string {
  return `What ${username} may do is being narrowed, but the database failed before this could be stored. It is finished once the database is available.`;
}
