/** Allows access on request: the account opens at once, and sshd itself shuts it at the end of what was allowed. */

import { eq } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { allowedFurther, beginOf, storedHosts } from "../../shared/hours/allowed.ts";
import { HOUR, MINUTE, shift } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Transaction } from "../../store/client.ts";
import { LOCAL_HOST, users } from "../../store/schema.ts";
import { openAccess } from "../accounts/access.ts";
import { atOwnHost, calendarAt, scheduleAt } from "../accounts/access-state.ts";
import { refOf } from "../accounts/account.ts";
import { type Closing, closingsOf, keepsShut } from "../accounts/closings.ts";
import { holdCompanyOf, requireGoing } from "../accounts/company-limits.ts";
import { isExpired, lockUser, type User } from "../accounts/find-user.ts";
import { accountMissing } from "../accounts/rebuild.ts";
import { hostsOfUser } from "../hosts/placements.ts";
import { accessAllowed } from "../mail/access-messages.ts";
import { date } from "../mail/letter.ts";
import { queueMail } from "../mail/outbox.ts";
import { siteWithKeys } from "../mail/site.ts";
import { auditedGrant } from "../operation/audited.ts";
import type { Context, Grant, Operation } from "../operation/context.ts";
import { type AskableHost, allowedNow, hostsDetail, stillAskable } from "./askable.ts";

/** Less is no prolongation: whoever asks again and again changes nothing. */
const LEAST = MINUTE;

export interface Allowing {
  readonly hours: number;
  /** The names of the hosts that were asked for; null for all. */
  readonly hosts: readonly string[] | null;
}

/**
 * Opens the account for so many hours from now, or from the end of what is allowed already, on the hosts that were asked for and that the user may still
 * ask for, and mails the user; returns the end. It never lies beyond the hours that may be allowed from now on, the user's hours of the week, and
 * their end. Throws as `requireAllowable` does, and `conflict` if none of the hosts is left.
 */
export function allowAccess(context: Context, userId: number, allowing: Allowing): Promise<Date> {
  const entry = { action: "access.allow", resourceId: String(userId), subjectId: userId } as const;
  return auditedGrant(context, entry, async (op) => {
    const user = await lockUser(op.tx, userId);
    op.about({ detail: { username: user.username } });
    return await open(op, user, allowing);
  });
}

async function open(op: Grant, user: User, { hours, hosts: asked }: Allowing): Promise<Date> {
  const { tx, context } = op;
  const now = context.clock.now();
  await requireAllowable(op, user);
  const hosts = await stillAskable(tx, user, asked);
  const ids = hosts === null ? null : hosts.map(({ id }) => id);
  const before = allowedNow(user, now);
  const begin = beginOf(before, ids, now);
  const until = endOf(await whereOpen(tx, user, ids), { begin, hours }, now);
  if (begin > now && until.getTime() < begin.getTime() + LEAST) {
    op.record({ unneeded: true });
    return begin;
  }
  const isHere = ids === null || ids.includes(LOCAL_HOST);
  if (isHere) await requireAccount(context, user);
  const after = allowedFurther(before, { hosts: ids, until }, now);
  const allowed = {
    allowedFrom: before === undefined ? now : user.allowedFrom,
    ...{ allowedUntil: after.until, allowedHosts: storedHosts(after) },
  };
  const set = { ...allowed, hoursDueAt: scheduleAt(atOwnHost({ ...user, ...allowed }), now).changesAt };
  // The user counts as unchanged: what administrators were about to change of them is none of this.
  await tx.update(users).set(set).where(eq(users.id, user.id));
  await queueMail(op, {
    recipient: user.email,
    message: accessAllowed(await siteWithKeys(context), user, { until, hosts: namesOf(hosts) }),
    expiresAt: until,
  });
  // Where nothing opens, nothing is touched.
  if (isHere) await openAccess(op, { ...user, ...set });
  op.record({ detail: { hours, until: formatTimestamp(until), ...hostsDetail(hosts) } });
  return until;
}

/**
 * Throws `conflict` for a user who need not ask, is not active, is being shut or deleted, or whose company has ended, and outside their hours: ended
 * meanwhile means no.
 */
export async function requireAllowable(op: Operation, user: User): Promise<void> {
  const now = op.context.clock.now();
  requireOnRequest(user);
  requireActive(user, await closingsOf(op.tx, user.id), now);
  requireGoing(await holdCompanyOf(op.tx, user));
  const { open, changesAt } = calendarAt(await whereOpen(op.tx, user, null), now);
  if (open) return;
  const begins = changesAt !== null && changesAt < user.expireAt ? `they begin on ${date(changesAt)}` : "they are over";
  const sentence = `It is outside the hours in which ${user.username} may have access; ${begins}`;
  throw new UamError("conflict", sentence, { reason: "access.outside_hours" });
}

/** Who has an account on the service's own host alone is open within the hours of that host's groups; others may be open elsewhere. */
async function whereOpen(tx: Transaction, user: User, hosts: readonly number[] | null) {
  if (!user.local || user.ownHostHours === null) return user;
  return (hosts ?? (await hostsOfUser(tx, user.id))).some((id) => id !== LOCAL_HOST) ? user : atOwnHost(user);
}

/** Throws `conflict` for a user who need not ask. */
export function requireOnRequest({ username, requestRule }: User): void {
  if (requestRule !== null) return;
  const sentence = `${username} need not ask for access`;
  throw new UamError("conflict", sentence, { reason: "access.not_on_request" });
}

function requireActive(user: User, owed: readonly Closing[], now: Date): void {
  const { username } = user;
  if (owed.some(({ kind }) => kind === "remove"))
    throw new UamError("conflict", `${username} is being deleted`, { reason: "user.deleting" });
  if (user.status === "active" && !isExpired(user, now) && !owed.some(keepsShut)) return;
  throw new UamError("conflict", `${username} is not active, and gets no access`, { reason: "user.not_active" });
}

function endOf(
  user: Awaited<ReturnType<typeof whereOpen>>,
  { begin, hours }: { readonly begin: Date; readonly hours: number },
  now: Date,
): Date {
  const { changesAt } = calendarAt(user, now);
  const ends = [shift(begin, hours * HOUR), shift(now, (user.requestHours ?? 0) * HOUR), changesAt, user.expireAt];
  return new Date(Math.min(...ends.flatMap((end) => (end === null ? [] : [end.getTime()]))));
}

function namesOf(hosts: readonly AskableHost[] | null): readonly string[] | null {
  return hosts === null ? null : hosts.map(({ name }) => name);
}

async function requireAccount({ host }: Context, user: User): Promise<void> {
  if (!user.local) return;
  const presence = await host.presence(refOf(user));
  if (presence === "missing") throw accountMissing(user, "conflict");
  if (presence === "foreign") {
    const sentence = `The host account ${refOf(user).name} is not the one that uam made`;
    throw new UamError("conflict", sentence, { reason: "account.foreign" });
  }
}
