/**
 * Access that is being taken away: noted before the host is touched, owed until nothing is left to do. As long as a note
 * exists, nothing gives the same access again; see `accountAt`.
 */

import { and, asc, count, eq, lte, sql } from "drizzle-orm";
import type { AuditAction } from "../../shared/product/audit-actions.ts";
import { offsetOf, type Page, type Paged } from "../../shared/product/page.ts";
import { HOUR, MINUTE } from "../../shared/time/clock.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { type Database, isNullIn, preparedOnce, type Transaction } from "../../store/client.ts";
import { type ClosingRow, closings, type UserRow, users } from "../../store/schema.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import { accessOwed, narrowingOwed, profileOwed, shorteningOwed } from "../mail/host-messages.ts";
import type { Context, Operation } from "../operation/context.ts";
import { type Actor, storedActor } from "../operation/entry.ts";
import { isPermitted, permitParameters, requirePermission } from "../operation/permission.ts";

export type Closing = ClosingRow;

/** Why access is taken away, for the record. */
export interface ClosingReason {
  /** In the words of whoever takes it; by default, none. */
  readonly reason?: string;
  /** The review whose answer takes it. */
  readonly review?: number;
}

/** A closing to note, and the audit action that is still to be recorded for it. */
export interface NewClosing extends ClosingReason {
  readonly userId: number;
  readonly kind: Closing["kind"];
  readonly keyId?: number;
  /** The networks from which the keys, or the key, may still be used. */
  readonly networks?: readonly string[];
  /** The earlier end of access. */
  readonly expireAt?: Date;
  readonly action: AuditAction | "";
}

/** Whether the account itself is being shut, and not only access by its keys. */
export function isShutting({ kind }: Pick<Closing, "kind">): boolean {
  return kind === "shut" || kind === "remove";
}

/** What was left of shutting an active user's account, which only the end of a window does without disabling them. */
function isOfHours({ kind, action }: Pick<Closing, "kind" | "action">): boolean {
  return kind === "shut" && action === "";
}

/** Whether it keeps the account shut whatever start and hours say: opening does not do away with it. */
export function keepsShut(note: Pick<Closing, "kind" | "action">): boolean {
  return isShutting(note) && !isOfHours(note);
}

/** The wait doubles with each attempt, from a minute to this. */
const LONGEST_WAIT = HOUR;

/**
 * Notes, committed at once, that the caller is taking access away; returns the note's id. Call it under the user's row lock. The same
 * statement checks the permission, and this throws if the caller has lost it: from the note on, the closing only goes forward.
 */
export async function noteClosing(
  context: Context,
  { userId, kind, keyId = 0, networks = [], expireAt, action, reason = "", review }: NewClosing,
): Promise<number> {
  faultPoint("closing: begun, not noted");
  const { autocommit, actor, clock } = context;
  const now = clock.now();
  const by = {
    action,
    actorType: actor.type,
    actor: actor.name,
    actorOwner: actor.owner ?? "",
    reason,
    networks: [...networks],
    expireAt: expireAt?.toISOString() ?? null,
    review: review ?? null,
  };
  const closing = { userId, kind, keyId, ...by, now, ...permitParameters(context) };
  const [row] = await insertClosing(autocommit)
    .execute(closing)
    .catch(async (error: unknown) => {
      if (isNullIn(error, "user_id")) await requirePermission(autocommit, context, action === "" ? undefined : action);
      throw error;
    });
  if (row === undefined) throw new Error("insert returned no row");
  faultPoint("closing: noted, host untouched");
  return row.id;
}

const insertClosing = preparedOnce((db) => {
  const { placeholder } = sql;
  const by = {
    action: placeholder("action"),
    actorType: placeholder("actorType"),
    actor: placeholder("actor"),
    actorOwner: placeholder("actorOwner"),
    reason: placeholder("reason"),
    networks: placeholder("networks"),
    expireAt: sql`${placeholder("expireAt")}::timestamptz`,
    review: placeholder("review"),
  };
  // A note of nobody cannot be stored.
  const permitted = sql`case when ${isPermitted()} then ${placeholder("userId")}::bigint end`;
  const subject = { userId: permitted, kind: placeholder("kind"), keyId: placeholder("keyId") };
  const excluded = {
    action: "action",
    actorType: "actor_type",
    actor: "actor",
    actorOwner: "actor_owner",
    reason: "reason",
    networks: "networks",
    expireAt: "expire_at",
    review: "review",
  };
  return db
    .insert(closings)
    .values({ ...subject, ...by, begunAt: placeholder("now"), dueAt: placeholder("now") })
    .onConflictDoUpdate({
      target: [closings.userId, closings.kind, closings.keyId],
      set: Object.fromEntries(Object.entries(excluded).map(([name, column]) => [name, sql.raw(`excluded.${column}`)])),
    })
    .returning({ id: closings.id })
    .prepare("note_closing");
});

/** Settles the note: nothing is left to do. */
export async function settleClosing(tx: Transaction, id: number): Promise<void> {
  await deleteClosing(tx).execute({ id });
}

/** The same as a part of another statement; `note`, the id, is its parameter. */
export function settledClosing(tx: Transaction | Database) {
  const settled = tx.delete(closings).where(eq(closings.id, sql.placeholder("note")));
  return tx.$with("settled").as(settled.returning({ id: closings.id }));
}

const deleteClosing = preparedOnce((tx) =>
  tx
    .delete(closings)
    .where(eq(closings.id, sql.placeholder("id")))
    .prepare("settle_closing"),
);

/**
 * Stores that work remains: it is retried after a minute, then after twice as long each time, at most an hour. The
 * administrators are mailed when it becomes owed. `recorded` means that the audit log already has it.
 */
export async function oweClosing(
  op: Operation,
  id: number,
  {
    user,
    owed,
    recorded,
  }: { readonly user: Pick<UserRow, "username">; readonly owed: readonly string[]; readonly recorded: boolean },
): Promise<void> {
  const { clock, policy } = op.context;
  const now = clock.now();
  const wait = sql`least(${MINUTE} * power(2, least(${closings.attempts}, 20)), ${LONGEST_WAIT}) * interval '1 millisecond'`;
  const [row] = await op.tx
    .update(closings)
    .set({
      attempts: sql`${closings.attempts} + 1`,
      problem: owed.join(". "),
      dueAt: sql`${now.toISOString()}::timestamptz + ${wait}`,
      ...(recorded ? { action: "" } : {}),
    })
    .where(eq(closings.id, id))
    .returning();
  if (row === undefined) return;
  const facts = { id: row.userId, username: user.username, owed };
  const write =
    { narrow: narrowingOwed, shorten: shorteningOwed, profile: profileOwed }[row.kind as string] ?? accessOwed;
  const message = write(policy.site, facts);
  await tellAdministrators(op, message, { about: "users", occasion: `owed:${id}:${row.begunAt.getTime()}` });
}

const selectClosings = preparedOnce((db) =>
  db
    .select()
    .from(closings)
    .where(eq(closings.userId, sql.placeholder("userId")))
    .orderBy(asc(closings.id))
    .prepare("closings_of"),
);

/** The user's open closings. */
export async function closingsOf(db: Database | Transaction, userId: number): Promise<readonly Closing[]> {
  return await selectClosings(db).execute({ userId });
}

/** Everything that is being taken away from any user, oldest first. */
export async function listClosings(db: Database | Transaction): Promise<readonly Closing[]> {
  return await db.select().from(closings).orderBy(asc(closings.id));
}

/** A closing and its user; `username` is "" for a deleted user. */
export interface OwedClosing {
  readonly closing: Closing;
  readonly username: string;
}

/** One page of everything that is being taken away, oldest first. */
export async function pageClosings({ db }: Pick<Context, "db">, page: Page): Promise<Paged<OwedClosing>> {
  // One snapshot, so that `total` and `items` agree.
  return await db.transaction(
    async (tx) => {
      const [row] = await tx.select({ total: count() }).from(closings);
      const total = row?.total ?? 0;
      const offset = offsetOf(page);
      // A page far beyond the end has an offset that no database takes.
      if (offset >= total) return { total, items: [] };
      const rows = await tx
        .select({ closing: closings, username: users.username })
        .from(closings)
        .leftJoin(users, eq(users.id, closings.userId))
        .orderBy(asc(closings.id))
        .limit(page.pageSize)
        .offset(offset);
      return { total, items: rows.map(({ closing, username }) => ({ closing, username: username ?? "" })) };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** The closings that are due for another attempt. */
export async function dueClosings(db: Database, now: Date): Promise<readonly Closing[]> {
  return await db
    .select()
    .from(closings)
    .where(lte(closings.dueAt, now))
    .orderBy(asc(closings.dueAt), asc(closings.id));
}

/** The note; undefined if it was settled. Under the user's row lock the answer is final. */
export async function findClosing(tx: Transaction, id: number): Promise<Closing | undefined> {
  const [row] = await tx.select().from(closings).where(eq(closings.id, id));
  return row;
}

/** Drops the rest of shutting an account that is being opened. Keys that are being revoked stay dead. */
export async function forgetShut(tx: Transaction, userId: number): Promise<void> {
  await tx.delete(closings).where(and(eq(closings.userId, userId), eq(closings.kind, "shut")));
}

/** Drops the rest of bringing an earlier end, because a later one is given. */
export async function forgetShortening(tx: Transaction, userId: number): Promise<void> {
  await tx.delete(closings).where(and(eq(closings.userId, userId), eq(closings.kind, "shorten")));
}

/**
 * Widens the narrowing of the user's keys, or of one key, to these networks. The note stays until nothing is narrowed,
 * because access from outside the networks is still owed.
 */
export async function widenNarrowing(
  tx: Transaction,
  { userId, keyId }: { readonly userId: number; readonly keyId: number },
  networks: readonly string[],
): Promise<void> {
  const note = and(eq(closings.userId, userId), eq(closings.kind, "narrow"), eq(closings.keyId, keyId));
  if (networks.length === 0) await tx.delete(closings).where(note);
  else
    await tx
      .update(closings)
      .set({ networks: [...networks] })
      .where(note);
}

/** Drops every note about a user who is gone. */
export async function forgetClosings(tx: Transaction, userId: number): Promise<void> {
  await tx.delete(closings).where(eq(closings.userId, userId));
}

/** The requester, as an actor. */
export function actorOf({ actorType, actor, actorOwner }: Closing): Actor {
  return storedActor({ type: actorType, name: actor, owner: actorOwner });
}
