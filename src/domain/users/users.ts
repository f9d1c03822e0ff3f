/** External users: create, update, disable, enable, extend, delete, list. */

import { and, asc, count, desc, eq, inArray } from "drizzle-orm";
import { DAY, shift } from "../../shared/clock.ts";
import { UamError } from "../../shared/errors.ts";
import { offsetOf, type Page, type Paged } from "../../shared/page.ts";
import { isDuplicate } from "../../store/client.ts";
import { type UserRow, users } from "../../store/schema.ts";
import { forgetIntent, recordIntent } from "../accounts/intents.ts";
import { forgetRemoval, noteRemoval } from "../accounts/removals.ts";
import { allocateUid } from "../accounts/uid.ts";
import { accountOf, accountWith, restoreAccount } from "../keys/keys.ts";
import { accountCreated } from "../mail/messages.ts";
import { queueMail } from "../mail/outbox.ts";
import { audited, type Operation } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { readSetting } from "../settings/settings.ts";
import { isExpired, lockUser, requireUser } from "./find.ts";
import { hostAccountOf, MAX_PURPOSE, MAX_SUPERVISOR, parseEmail, parseText, parseUsername } from "./username.ts";

export interface NewUser {
  readonly username: string;
  readonly email: string;
  readonly supervisor?: string | undefined;
  readonly purpose?: string | undefined;
  /** Whole days; 0 or absent means `policy.default_ttl`. */
  readonly ttlDays?: number | undefined;
  /** What the user is mailed; `accountCreated` unless there is more to say. */
  readonly letter?: typeof accountCreated;
}

export interface UserChanges {
  readonly email?: string | undefined;
  readonly supervisor?: string | undefined;
  readonly purpose?: string | undefined;
}

export interface UserFilter {
  readonly status?: UserRow["status"] | undefined;
  readonly supervisor?: string | undefined;
}

const MAX_DAYS = 3650;

/** Stores a user and makes the host account; both or neither. `conflict` if the username or the account's name is taken. */
export function createUser(context: Context, input: NewUser): Promise<UserRow> {
  const entry = { action: "user.create", detail: { username: input.username } } as const;
  return audited(context, entry, async (op) => {
    const { host, clock } = context;
    const now = clock.now();
    const username = parseUsername(input.username);
    const days = parseDays(input.ttlDays);
    const texts = {
      email: parseEmail(input.email),
      supervisor: parseText("supervisor", input.supervisor ?? "", MAX_SUPERVISOR),
      purpose: parseText("purpose", input.purpose ?? "", MAX_PURPOSE),
    };
    const ttl = days > 0 ? days * DAY : await readSetting(context, op.tx, "policy.default_ttl");
    const uid = await allocateUid(context);
    const times = { expireAt: shift(now, ttl), createdAt: now, updatedAt: now };
    const user = await insertUser(op, { username, uid, ...texts, ...times });
    const message = (input.letter ?? accountCreated)(context.policy.site, user);
    await queueMail(op, { recipient: user.email, message });
    const name = hostAccountOf(username);
    if (await host.nameTaken(name)) {
      throw new UamError("conflict", `The host already has an account or a home directory named ${name}`);
    }
    await recordIntent(op, { name, uid });
    op.onRollback(async () => {
      await restoreAccount(context, user);
      await forgetIntent(context.side, uid);
    });
    await host.createAccount(accountWith(user, true, []));
    await forgetIntent(op.tx, uid);
    op.learn({ resourceId: String(user.id), subjectId: user.id });
    return user;
  });
}

/** Changes what is supplied, and nothing else. */
export function updateUser(context: Context, userId: number, changes: UserChanges): Promise<UserRow> {
  return audited(context, userEntry("user.update", userId), async (op) => {
    await lockUser(op.tx, userId);
    const { email, supervisor, purpose } = changes;
    const supplied = {
      ...(email === undefined ? {} : { email: parseEmail(email) }),
      ...(supervisor === undefined ? {} : { supervisor: parseText("supervisor", supervisor, MAX_SUPERVISOR) }),
      ...(purpose === undefined ? {} : { purpose: parseText("purpose", purpose, MAX_PURPOSE) }),
    };
    op.learn({ detail: supplied });
    return await store(op, userId, supplied);
  });
}

/** Ends the user's access at once: account shut, processes ended, authorized-keys file empty. */
export function disableUser(context: Context, userId: number): Promise<UserRow> {
  return changeStatus(context, userId, "user.disable", { status: "disabled", disabledAt: context.clock.now() });
}

/** Gives a disabled user access again, with the keys as stored. */
export function enableUser(context: Context, userId: number): Promise<UserRow> {
  return changeStatus(context, userId, "user.enable", { status: "active", disabledAt: null });
}

/**
 * Moves the expiry to `days` days (0: `policy.default_ttl`) after now or the current expiry, whichever is later. A user
 * who expired returns to what he was before, unless the recycle period is over: then it is refused.
 */
export function extendUser(context: Context, userId: number, days: number): Promise<UserRow> {
  const entry = { ...userEntry("user.extend", userId), detail: { days } } as const;
  return audited(context, entry, async (op) => {
    const now = context.clock.now();
    const user = await lockUser(op.tx, userId);
    parseDays(days);
    const length = days > 0 ? days * DAY : await readSetting(context, op.tx, "policy.default_ttl");
    const recyclePeriod = await readSetting(context, op.tx, "policy.recycle_period");
    const expired = isExpired(user, now);
    if (expired && shift(user.expireAt, recyclePeriod) <= now) {
      throw new UamError(
        "internal",
        `The recycle period of ${user.username} is over; the account is being reclaimed and cannot be extended`,
      );
    }
    const expireAt = shift(user.expireAt > now ? user.expireAt : now, length);
    if (expireAt.getUTCFullYear() > 9999)
      throw new UamError("internal", "The new expiry would lie beyond the year 9999");
    const extended = await store(op, userId, {
      expireAt,
      status: expired ? (user.disabledAt === null ? "active" : "disabled") : user.status,
    });
    await applyAccess(op, extended);
    op.learn({ detail: { old_status: user.status } });
    return extended;
  });
}

/**
 * Removes the host account, the home directory, the keys and the user; the audit records stay. Once the account is gone
 * there is no way back: should the process die, or the commit fail, before the user is gone too, `finishRemovals` does the rest.
 */
export function deleteUser(context: Context, userId: number): Promise<void> {
  return audited(context, userEntry("user.delete", userId), async (op) => {
    const user = await lockUser(op.tx, userId);
    await noteRemoval(context, userId);
    op.onRollback(async () => {
      const account = { name: hostAccountOf(user.username), uid: user.uid };
      if ((await context.host.presence(account)) !== "missing") await forgetRemoval(context.side, userId);
    });
    await forgetRemoval(op.tx, userId);
    await removeUser(op, user);
  });
}

/** The part of deleting that recycling shares. */
export async function removeUser(op: Operation, user: UserRow): Promise<void> {
  op.onRollback(() => restoreAccount(op.context, user));
  await op.tx.delete(users).where(eq(users.id, user.id)).prepare("delete_user").execute();
  await op.context.host.removeAccount({ name: hostAccountOf(user.username), uid: user.uid });
}

/** The user; throws `not_found`. */
export async function getUser(context: Context, userId: number): Promise<UserRow> {
  return await requireUser(context.db, userId);
}

/** One page of users, newest first. */
export async function listUsers(context: Context, filter: UserFilter, page: Page): Promise<Paged<UserRow>> {
  const where = and(
    filter.status === undefined ? undefined : eq(users.status, filter.status),
    filter.supervisor === undefined ? undefined : eq(users.supervisor, filter.supervisor),
  );
  // One snapshot, so that `total` and `items` agree.
  return await context.db.transaction(
    async (tx) => {
      const [row] = await tx.select({ total: count() }).from(users).where(where).prepare("count_users").execute();
      const total = row?.total ?? 0;
      const offset = offsetOf(page);
      const size = Math.min(page.pageSize, total - offset);
      if (size <= 0) return { total, items: [] };
      // A page in the older half is counted off from the oldest: the last page then costs what the first does.
      const reversed = offset > total / 2;
      const order = reversed ? asc(users.id) : desc(users.id);
      const ids = tx
        .select({ id: users.id })
        .from(users)
        .where(where)
        .orderBy(order)
        .limit(size)
        .offset(reversed ? total - offset - size : offset);
      const items = await tx
        .select()
        .from(users)
        .where(inArray(users.id, ids))
        .orderBy(desc(users.id))
        .prepare("list_users")
        .execute();
      return { total, items };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

type StatusChange = { readonly status: "active" | "disabled"; readonly disabledAt: Date | null };

function changeStatus(
  context: Context,
  userId: number,
  action: "user.disable" | "user.enable",
  change: StatusChange,
): Promise<UserRow> {
  return audited(context, userEntry(action, userId), async (op) => {
    const user = await lockUser(op.tx, userId);
    if (isExpired(user, context.clock.now())) {
      throw new UamError("conflict", `${user.username} is expired; extend the account instead`);
    }
    await requireAccount(context, user);
    // A second disable must not move the moment of the first.
    const disabledAt = change.disabledAt === null ? null : (user.disabledAt ?? change.disabledAt);
    const changed = await store(op, userId, { status: change.status, disabledAt });
    await applyAccess(op, changed);
    op.learn({ detail: { status: change.status } });
    return changed;
  });
}

async function requireAccount(context: Context, user: UserRow): Promise<void> {
  const name = hostAccountOf(user.username);
  const presence = await context.host.presence({ name, uid: user.uid });
  if (presence === "missing") throw new UamError("conflict", `The host account ${name} is missing`);
  if (presence === "foreign") throw new UamError("conflict", `The host account ${name} is not the one that uam made`);
}

/** Brings the host account in line with the user; set back if the operation fails. */
export async function applyAccess(op: Operation, user: UserRow): Promise<void> {
  const account = await accountOf(op.tx, user, op.context.clock.now());
  op.onRollback(() => restoreAccount(op.context, user));
  await op.context.host.applyAccess(account);
}

async function store(op: Operation, userId: number, changes: Partial<UserRow>): Promise<UserRow> {
  const [user] = await op.tx
    .update(users)
    .set({ ...changes, updatedAt: op.context.clock.now() })
    .where(eq(users.id, userId))
    .returning()
    .prepare("update_user")
    .execute();
  if (user === undefined) throw new Error("a locked user's row is gone");
  return user;
}

async function insertUser(op: Operation, user: typeof users.$inferInsert): Promise<UserRow> {
  try {
    const [row] = await op.tx.insert(users).values(user).returning().prepare("insert_user").execute();
    if (row === undefined) throw new Error("insert returned no row");
    return row;
  } catch (error) {
    if (isDuplicate(error, "users_username_unique")) {
      throw new UamError("conflict", `The username ${user.username} is taken`);
    }
    throw error;
  }
}

function parseDays(days: number | undefined): number {
  if (days === undefined) return 0;
  if (!Number.isInteger(days) || days < 0 || days > MAX_DAYS) {
    throw new UamError("invalid", `The number of days must be a whole number from 0 to ${MAX_DAYS}`);
  }
  return days;
}

function userEntry<A extends "user.update" | "user.disable" | "user.enable" | "user.extend" | "user.delete">(
  action: A,
  userId: number,
) {
  return { action, resourceId: String(userId), subjectId: userId } as const;
}
