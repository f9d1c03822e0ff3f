/** Moving the end of a user's access: later, which gives access, or earlier, which takes it away. */

import { UamError } from "../../shared/errors.ts";
import { DAY } from "../../shared/time/clock.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { openAccess, storeUser } from "../accounts/access.ts";
import { closingsOf, forgetShortening } from "../accounts/closings.ts";
import { holdCompanyOf } from "../accounts/company-limits.ts";
import { findUser, lockUserIfStored, statusAt, type User } from "../accounts/find-user.ts";
import { shortenOnRecord } from "../accounts/shortening.ts";
import { tellExtended } from "../mail/notices.ts";
import { auditedClosing, auditedGrant } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import type { AuditDetail } from "../operation/entry.ts";
import { extensionOf, isShortening, requireEnd, requireNotBeingShortened, type Wanted } from "./changeable.ts";
import { type ChangeOptions, lockUserFor, userEntry } from "./row-lock.ts";

/** How often the stored end may move in between before this gives up. */
const ATTEMPTS = 5;

/** A user whose end was moved. */
export interface Moved {
  readonly user: User;
  readonly before: Date;
  /** Whether access was taken away. */
  readonly isShorter: boolean;
}

/**
 * Moves the expiry to `days` days (0: `policy.default_ttl`) after now or the current expiry, whichever is later, but not beyond
 * `atMost`; never back. An expired user regains their previous status, unless the recycle period is over: then it is refused.
 */
export async function extendUser(
  context: Context,
  userId: number,
  days: number,
  options: ChangeOptions & { readonly atMost?: Date | undefined } = {},
): Promise<User> {
  const moved = await lengthen(context, userId, { days }, options);
  if (moved === undefined) throw new Error("a number of days takes nothing away");
  return moved.user;
}

/**
 * Moves the end as `extendUser` does or, with `until`, to that moment. One that is earlier than the present end takes access away: the
 * end is stored even if the host fails, steps that fail are owed, and then this throws `internal`. `invalid` if it is not in the future.
 */
export async function moveEnd(
  context: Context,
  userId: number,
  wanted: Wanted,
  options: ChangeOptions = {},
): Promise<Moved> {
  const { until } = wanted;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const user = until && (await findUser(context.db, userId));
    // Until there is a lock, the direction may change.
    const isShorter = user !== undefined && isShortening(context, user, until);
    const change =
      isShorter && until ? shorten(context, userId, until, options) : lengthen(context, userId, wanted, options);
    const moved = await change;
    if (moved !== undefined) return moved;
  }
  throw new UamError("conflict", "Somebody else is moving the same end; try again");
}

/** Undefined if the present end is later meanwhile. */
function lengthen(
  context: Context,
  userId: number,
  wanted: Wanted,
  { atMost, ...options }: ChangeOptions & { readonly atMost?: Date | undefined },
): Promise<Moved | undefined> {
  const entry = { ...userEntry("user.extend", userId), detail: wantedDetail(wanted) } as const;
  return auditedGrant(context, entry, async (op) => {
    const { user } = await lockUserFor(op, userId, options);
    if (isShortening(context, user, wanted.until)) {
      op.record({ unneeded: true });
      return undefined;
    }
    await holdCompanyOf(op.tx, user);
    const owed = await closingsOf(op.tx, userId);
    const { length, expireAt, status } = await extensionOf(context, op.tx, user, { ...wanted, atMost, owed });
    const extended = await storeUser(op, user, { expireAt, status });
    await forgetShortening(op.tx, userId);
    await tellExtended(op, extended);
    // A disabled user's account stays shut as it is.
    if (status === "active") await openAccess(op, extended).catch(asFailure);
    op.record({
      detail: {
        ...(atMost === undefined ? {} : { at_most: formatTimestamp(atMost) }),
        ...(length !== undefined && length % DAY === 0 ? { days: length / DAY } : {}),
        old_status: statusAt(user, context.clock.now()),
        old_expire_at: formatTimestamp(user.expireAt),
        expire_at: formatTimestamp(expireAt),
      },
    });
    return { user: extended, before: user.expireAt, isShorter: false };
  });
}

/** Undefined if the present end is not later any more. */
function shorten(context: Context, userId: number, until: Date, options: ChangeOptions): Promise<Moved | undefined> {
  const entry = { ...userEntry("user.shorten", userId), detail: wantedDetail({ until }) } as const;
  return auditedClosing(context, entry, async (op) => {
    // Somebody deleted them: as for a later end, that is refused as an extension.
    if ((await lockUserIfStored(op.tx, userId)) === undefined) {
      op.record({ unneeded: true });
      return undefined;
    }
    const { user, reason } = await lockUserFor(op, userId, options);
    if (!isShortening(context, user, until)) {
      op.record({ unneeded: true });
      return undefined;
    }
    requireEnd(context, user, until);
    requireNotBeingShortened(user, await closingsOf(op.tx, userId), until);
    const shortened = await shortenOnRecord(op, user, { expireAt: until, reason });
    return { user: shortened, before: user.expireAt, isShorter: true };
  });
}

function wantedDetail({ days, until }: Wanted): AuditDetail {
  return until === undefined ? { days: days ?? 0 } : { until: formatTimestamp(until) };
}

/** An account that is not as it was when it was looked at is a failure of the host, as one that was not before. */
function asFailure(error: unknown): never {
  if (!(error instanceof UamError) || error.code !== "conflict") throw error;
  throw new UamError("internal", error.message, { cause: error, reason: error.reason });
}
