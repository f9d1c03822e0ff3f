/** Deletions under way: noted before the host is touched, so that one which a crash cut short is known and finished. */

import { like } from "drizzle-orm";
import type { Database, Transaction } from "../../store/client.ts";
import { counters } from "../../store/schema.ts";
import type { Actor, ActorType, Context } from "../operation/context.ts";

/** A deletion that was begun. */
export interface Removal {
  readonly userId: number;
  /** Who asked for it. */
  readonly actor: Actor;
  readonly begunAt: Date;
}

const NOTE = "removal:";

/** Notes, committed at once, that the user is about to be removed, and by whom. */
export async function noteRemoval(
  { actor, clock, side }: Pick<Context, "actor" | "clock" | "side">,
  userId: number,
): Promise<void> {
  const value = clock.now().getTime();
  await side
    .insert(counters)
    .values({ name: `${NOTE}${userId}:${actor.type}:${actor.name}`, value })
    .onConflictDoUpdate({ target: counters.name, set: { value } });
}

/** To be called in the transaction that removes the user, or once it is known that the user stays. */
export async function forgetRemoval(db: Database | Transaction, userId: number): Promise<void> {
  await db.delete(counters).where(like(counters.name, `${NOTE}${userId}:%`));
}

/** The deletions that are noted, under way or cut short. */
export async function listRemovals(db: Database | Transaction): Promise<readonly Removal[]> {
  const rows = await db
    .select()
    .from(counters)
    .where(like(counters.name, `${NOTE}%`))
    .orderBy(counters.name);
  return rows.map(({ name, value }) => {
    const [userId, type, ...rest] = name.slice(NOTE.length).split(":");
    const actor = { type: type as ActorType, name: rest.join(":"), ip: "" };
    return { userId: Number(userId), actor, begunAt: new Date(value) };
  });
}
