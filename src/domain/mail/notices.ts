/** Tells users what happened to their account: each notice is queued in the transaction of the change. */

import { eq } from "drizzle-orm";
import type { Transaction } from "../../store/client.ts";
import { sshKeys, type UserRow, users } from "../../store/schema.ts";
import type { Services } from "../operation/context.ts";
import {
  accountDeleted,
  accountDisabled,
  accountEnabled,
  accountExtended,
  accountShortened,
  addressRemoved,
  addressSet,
} from "./account-messages.ts";
import { accountCreated } from "./messages.ts";
import { queueMail, queueMails } from "./outbox.ts";
import type { ConnectingUser } from "./phrases.ts";
import { siteWithKeys } from "./site.ts";

/** The operation that changed the user. */
export interface Telling {
  readonly tx: Transaction;
  readonly context: Pick<Services, "clock" | "policy" | "host" | "log">;
}

/** A stored user, with the profiles that bind them. */
type BoundUser = UserRow & Pick<ConnectingUser, "profiles">;

/** Until when the account lasts now, and, unless it is disabled, how to connect. */
export async function tellExtended(op: Telling, user: BoundUser): Promise<void> {
  await queueMail(op, { recipient: user.email, message: accountExtended(await siteWithKeys(op.context), user) });
  await noteExpiryMailed(op, user);
}

/** Until when the account lasts now, which is sooner than `before`. */
export async function tellShortened(op: Telling, user: UserRow, before: Date): Promise<void> {
  const message = accountShortened(op.context.policy.site, user, before);
  await queueMail(op, { recipient: user.email, message });
  await noteExpiryMailed(op, user);
}

/** For a user who was disabled until now. */
export async function tellEnabled(op: Telling, user: BoundUser): Promise<void> {
  await queueMail(op, { recipient: user.email, message: accountEnabled(await siteWithKeys(op.context), user) });
  await noteExpiryMailed(op, user);
}

/** Once for each time that the user is disabled, however often it is tried; `reason` is a sentence for the user. */
export async function tellDisabled(op: Telling, user: UserRow, reason?: string): Promise<void> {
  const at = user.disabledAt ?? op.context.clock.now();
  await queueMail(op, {
    recipient: user.email,
    message: accountDisabled(op.context.policy.site, user, reason === undefined ? { at } : { at, reason }),
    dedupeKey: `disabled:${user.id}:${at.getTime()}`,
  });
}

/** For a user who is gone, by deletion or because the recycle period is over; once. */
export async function tellDeleted(op: Telling, user: UserRow): Promise<void> {
  const message = accountDeleted(op.context.policy.site, user, { at: op.context.clock.now() });
  await queueMail(op, { recipient: user.email, message, dedupeKey: `deleted:${user.id}` });
}

/** To both addresses; a user who never logged in gets the welcome again, which perhaps went to a wrong address. */
export async function tellAddressChanged(op: Telling, before: UserRow, after: BoundUser): Promise<void> {
  const { clock, policy } = op.context;
  const at = clock.now();
  const site = await siteWithKeys(op.context);
  const old = { recipient: before.email, message: addressRemoved(policy.site, after, { at }) };
  const fresh = { recipient: after.email, message: addressSet(site, after, { at }) };
  // One whose welcome waits gets it once somebody says so.
  const waits = after.welcomePendingSince !== null;
  const mayBegin = !waits && after.status === "active" && after.expireAt > at && (await neverLoggedIn(op.tx, after));
  const welcome = { recipient: after.email, message: accountCreated(site, after) };
  await queueMails(op, mayBegin ? [old, fresh, welcome] : [old, fresh]);
  await noteExpiryMailed(op, after);
}

/** A login from before logins were noted left a key, or had no effect. */
async function neverLoggedIn(tx: Transaction, user: UserRow): Promise<boolean> {
  if (user.lastLoginAt !== null) return false;
  const [key] = await tx.select({ id: sshKeys.id }).from(sshKeys).where(eq(sshKeys.userId, user.id)).limit(1);
  return key === undefined;
}

/** So that no reminder says the same within a day. */
async function noteExpiryMailed({ tx, context }: Telling, user: UserRow): Promise<void> {
  await tx
    .update(users)
    .set({ expiryMailedAt: context.clock.now() })
    .where(eq(users.id, user.id))
    .prepare("note_expiry_mailed")
    .execute();
}
