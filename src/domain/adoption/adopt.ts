/** An account that somebody else made becomes a user's, and may be given back until a key is stored. */

import { eq } from "drizzle-orm";
import type { Adopter, Adoption } from "../../protocol/adoption.ts";
import { UamError } from "../../shared/errors.ts";
import { LOCAL_HOST, sshKeys, users } from "../../store/schema.ts";
import { givenUids, grants } from "../../store/schema-fleet.ts";
import { requireClosed } from "../accounts/access.ts";
import { openAccountOf, refOf } from "../accounts/account.ts";
import { closingsOf, forgetClosings } from "../accounts/closings.ts";
import { lockUser, type User } from "../accounts/find-user.ts";
import { scheduleHere } from "../accounts/hours.ts";
import { rejectRequestOf } from "../accounts/own-requests.ts";
import { voidCodes } from "../auth/codes/otp.ts";
import { accountCreated } from "../mail/messages.ts";
import { queueMail } from "../mail/outbox.ts";
import { siteWithKeys } from "../mail/site.ts";
import { audited, auditedGrant } from "../operation/audited.ts";
import type { Context, Grant, Operation } from "../operation/context.ts";
import { readSetting } from "../settings/settings.ts";
import { requireSponsor } from "../sponsors/sponsor-email.ts";
import { tellSponsor } from "../sponsors/telling.ts";
import { createdDetail, type NewUser, parseNewUser } from "../users/new-user.ts";
import { insertUser } from "../users/users.ts";
import { lockAdoptions, settleAdoption } from "./finish-adoptions.ts";
import { type LookRequest, lookToAdopt } from "./look.ts";

export interface Adopted extends LookRequest {
  /** What is stored of the user; the name comes from the look. */
  readonly user: Omit<NewUser, "username">;
  /** Whether rules of sudo for the account are no obstacle: they are not edited. */
  readonly leaveSudo: boolean;
}

/**
 * Makes the account a user's: shut first, renamed, without its password, keys and groups, and then open without any key. Stored and done on
 * the host, or neither: a failure or a crash makes the account what it was. Throws `conflict` with everything that is in the way.
 */
export async function adoptAccount(context: Context, input: Adopted): Promise<User> {
  const adopter = requireAdopter(context);
  const entry = { action: "user.adopt", detail: { account: input.account, username: input.username ?? "" } } as const;
  const user = await auditedGrant(context, entry, (op) => takeOver(op, adopter, input));
  adopter.mark(user.uid, "held");
  return user;
}

async function takeOver(op: Grant, adopter: Adopter, input: Adopted): Promise<User> {
  const { context } = op;
  await lockAdoptions(op.tx);
  const { account, username, keys, obstacles } = await lookToAdopt(context, adopter, input);
  const found = { username, account: account.name, uid: account.uid };
  op.about({ detail: found });
  const rules = `sudo has rules for ${account.name} (${account.sudo.join("; ")}): remove them, or give --leave-sudo`;
  const inTheWay = [...obstacles, ...(input.leaveSudo || account.sudo.length === 0 ? [] : [rules])];
  if (inTheWay.length > 0) throw new UamError("conflict", inTheWay.join(". "));
  const now = context.clock.now();
  const defaultTtl = await readSetting(context, op.tx, "policy.default_ttl");
  const { sponsor } = context.policy;
  const parsed = parseNewUser({ ...input.user, username }, { now, defaultTtl, sponsor });
  requireSponsor(sponsor, parsed.sponsorEmail);
  const row = { ...parsed, createdAt: now, updatedAt: now };
  const user = await insertUser(op, row, account.uid, grantOwnHost);
  await op.tx.insert(givenUids).values({ uid: account.uid }).onConflictDoNothing();
  await voidCodes(op.tx, [username]);
  await queueMail(op, { recipient: user.email, message: accountCreated(await siteWithKeys(context), user) });
  await tellSponsor(op, user.sponsorEmail, [user]);
  await scheduleHere(op, user);
  const ref = refOf(user);
  await op.onRollback(() => settleAdoption(context, account.uid));
  await adopter.take(account, ref);
  requireClosed(await context.host.shutAccount(ref));
  await context.host.openAccount(openAccountOf(user, []));
  op.record({
    resourceId: String(user.id),
    subjectId: user.id,
    detail: { ...found, ...createdDetail(user), keys_found: keys.length },
  });
  return user;
}

/**
 * Makes the account what it was before, with the password, keys and groups that it had, and forgets the user. Throws `conflict` once a key was
 * ever stored for them: from then on the account is the user's. If the host fails, it is finished by the next reconciliation.
 */
export async function giveAccountBack(context: Context, userId: number): Promise<{ readonly account: string }> {
  const adopter = requireAdopter(context);
  const entry = { action: "user.give_back", resourceId: String(userId), subjectId: userId } as const;
  const adoption = await audited(context, entry, async (op) => {
    await lockAdoptions(op.tx);
    const user = await lockUser(op.tx, userId);
    op.about({ detail: { username: user.username } });
    const found = adoptionOf(adopter, user);
    if (!user.local) throw new UamError("conflict", `${user.username} has no account on this host any more`);
    op.about({ detail: { account: found.former, uid: user.uid } });
    const keys = await op.tx.select({ id: sshKeys.id }).from(sshKeys).where(eq(sshKeys.userId, userId)).limit(1);
    if (keys.length > 0) throw new UamError("conflict", `${user.username} has had a key: the account is theirs now`);
    const others = await op.tx.select({ hostId: grants.hostId }).from(grants).where(eq(grants.userId, userId));
    if (others.some(({ hostId }) => hostId !== LOCAL_HOST))
      throw new UamError("conflict", `${user.username} has other hosts: take these away first`);
    if ((await closingsOf(op.tx, userId)).length > 0)
      throw new UamError("conflict", `Access of ${user.username} is being taken away: wait until that is done`);
    adopter.mark(user.uid, "returning");
    await op.tx.delete(users).where(eq(users.id, userId));
    // It is nobody else's: it was this account's before.
    await op.tx.delete(givenUids).where(eq(givenUids.uid, user.uid));
    await forgetClosings(op.tx, userId);
    await rejectRequestOf(op, userId);
    return found;
  });
  await settleAdoption(context, adoption.uid);
  return { account: adoption.former };
}

/** What is written down of the user's account. Throws `conflict` for one that the service made. */
export function adoptionOf(adopter: Adopter, { uid, username }: User): Adoption {
  const adoption = adopter.adoption(uid);
  if (adoption !== undefined) return adoption;
  throw new UamError("conflict", `The account of ${username} was not adopted: nothing was found in it`);
}

/** Throws `invalid` where the service does not change this host as root. */
export function requireAdopter({ adopter }: Pick<Context, "adopter">): Adopter {
  if (adopter !== undefined) return adopter;
  throw new UamError("invalid", "This needs root, and a service that runs as root (UAM_HOST_MODE=direct)");
}

/** The uid may be somebody else's on other hosts. */
async function grantOwnHost({ tx, context }: Operation, userId: number): Promise<boolean> {
  await tx.insert(grants).values({ userId, hostId: LOCAL_HOST, createdAt: context.clock.now() });
  return true;
}
