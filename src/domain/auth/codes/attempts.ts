/**
 * Limits guessing, the same way for codes and passwords: wrong answers are counted for each submitted username, known
 * or unknown, and lock it for a while. All of it is in the database, so restarts and replicas share it.
 */

import { and, eq, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { DAY, shift } from "../../../shared/time/clock.ts";
import type { Database, Transaction } from "../../../store/client.ts";
import { loginLimits } from "../../../store/schema-auth.ts";
import type { Services } from "../../operation/context.ts";

/** The number of wrong answers allowed, and the consequence. */
export interface AttemptLimit {
  readonly kind: "code" | "password" | "totp";
  /** The name is locked each time this many more wrong answers were given. */
  readonly most: number;
  /** Milliseconds of the first lock; each further one is twice as long, up to `longest`. */
  readonly period: number;
  readonly longest: number;
  /** Subject of the refusal's message, "Too many …". */
  readonly what: string;
}

/** The name under which an attempt is counted, and its time. */
export interface Attempt {
  readonly username: string;
  readonly now: Date;
}

/** Names without an attempt for this long are forgotten, known and unknown alike: four guesses a month are no danger. */
const MEMORY = 30 * DAY;

/**
 * Counts a wrong answer in advance; if it was the last one allowed, returns until when the name is now locked. Throws
 * `limited` while the name is locked. Commit it before the answer is evaluated: then at most the limit of simultaneous
 * guesses is evaluated. A right answer ends with `forgetFailures`.
 */
export async function claimAttempt(
  db: Database | Transaction,
  limit: AttemptLimit,
  { username, now }: Attempt,
): Promise<Date | undefined> {
  const { kind } = limit;
  const next = sql`${loginLimits.failures} + 1`;
  const [row] = await db
    .insert(loginLimits)
    .values({ kind, username, failures: 1, lockedUntil: lockAfter(limit, sql`1`, now, sql`null`), updatedAt: now })
    .onConflictDoUpdate({
      target: [loginLimits.kind, loginLimits.username],
      set: {
        failures: next,
        lockedUntil: lockAfter(limit, next, now, sql`${loginLimits.lockedUntil}`),
        updatedAt: now,
      },
      setWhere: isOpen(now),
    })
    .returning({ lockedUntil: loginLimits.lockedUntil })
    .prepare("claim_attempt")
    .execute();
  if (row === undefined) throw await refusal(db, limit, { username, now });
  return row.lockedUntil !== null && row.lockedUntil > now ? row.lockedUntil : undefined;
}

/** Takes back what `claimAttempt` counted, and the lock if that attempt caused it. */
export async function returnAttempt(
  db: Database | Transaction,
  { kind, most }: AttemptLimit,
  username: string,
): Promise<void> {
  await db
    .update(loginLimits)
    .set({
      failures: sql`greatest(${loginLimits.failures} - 1, 0)`,
      lockedUntil: sql`case when ${loginLimits.failures} % ${most} <> 0 then ${loginLimits.lockedUntil} end`,
    })
    .where(isFor(kind, username));
}

/** Forgets the wrong answers and the lock of a name. */
export async function forgetFailures(tx: Transaction, kind: AttemptLimit["kind"], username: string): Promise<void> {
  await tx.update(loginLimits).set({ failures: 0, lockedUntil: null }).where(isFor(kind, username));
}

/** Throws `limited` while the name is locked. */
export async function requireUnlocked(
  db: Database | Transaction,
  limit: AttemptLimit,
  { username, now }: Attempt,
): Promise<void> {
  const { lockedUntil } = await find(db, limit.kind, username);
  if (lockedUntil !== null && lockedUntil > now) throw await refusal(db, limit, { username, now });
}

/**
 * True if something may be mailed for that name now; the next may follow `cooldown` milliseconds later. With `anew` it is true
 * during a cooldown, too, which then begins again. The name's row stays locked until the transaction ends, and answers for the name
 * wait for it.
 */
export async function startCooldown(
  tx: Transaction,
  { kind, cooldown, anew }: { readonly kind: AttemptLimit["kind"]; readonly cooldown: number; readonly anew?: boolean },
  { username, now }: Attempt,
): Promise<boolean> {
  const started = { cooldownUntil: shift(now, cooldown), updatedAt: now };
  const [row] = await tx
    .insert(loginLimits)
    .values({ kind, username, ...started })
    .onConflictDoUpdate({
      target: [loginLimits.kind, loginLimits.username],
      set: started,
      setWhere: anew ? undefined : or(isNull(loginLimits.cooldownUntil), lte(loginLimits.cooldownUntil, now)),
    })
    .returning({ username: loginLimits.username })
    .prepare(anew ? "restart_cooldown" : "start_cooldown")
    .execute();
  return row !== undefined;
}

/** `limited`, with the seconds until the name is neither locked nor cooling down. */
export async function refusal(
  db: Database | Transaction,
  { kind, what }: Pick<AttemptLimit, "kind" | "what">,
  { username, now }: Attempt,
): Promise<UamError> {
  const { lockedUntil, cooldownUntil } = await find(db, kind, username);
  const until = Math.max(lockedUntil?.getTime() ?? 0, kind === "code" ? (cooldownUntil?.getTime() ?? 0) : 0);
  const retryAfter = Math.max(1, Math.ceil((until - now.getTime()) / 1000));
  const sentence = `${what} for this username; try again in ${retryAfter} seconds`;
  // A lock may have gone since it refused. Only for a code there is another wait.
  const isLocked = kind !== "code" || (lockedUntil !== null && lockedUntil > now);
  return new UamError("limited", sentence, { retryAfter, reason: isLocked ? "login.locked" : "code.cooldown" });
}

/** Deletes names without an attempt for a month. */
export async function purgeAttempts({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  const now = clock.now();
  await db
    .delete(loginLimits)
    .where(
      and(
        lte(loginLimits.updatedAt, shift(now, -MEMORY)),
        isOpen(now),
        or(isNull(loginLimits.cooldownUntil), lte(loginLimits.cooldownUntil, now)),
      ),
    );
}

/** Until when that many failures lock the name; `otherwise` if they do not lock it. */
function lockAfter({ most, period, longest }: AttemptLimit, failures: SQL, now: Date, otherwise: SQL): SQL {
  // 2^20 periods are beyond any `longest`, and within what an interval holds.
  const doubled = sql`${period}::float8 * power(2, least((${failures}) / ${most} - 1, 20))`;
  const length = sql`least(${doubled}, ${longest}::float8) * interval '1 millisecond'`;
  return sql`case when (${failures}) % ${most} = 0 then ${now.toISOString()}::timestamptz + ${length} else ${otherwise} end`;
}

function isOpen(now: Date): SQL | undefined {
  return or(isNull(loginLimits.lockedUntil), lte(loginLimits.lockedUntil, now));
}

function isFor(kind: AttemptLimit["kind"], username: string): SQL | undefined {
  return and(eq(loginLimits.kind, kind), eq(loginLimits.username, username));
}

async function find(db: Database | Transaction, kind: AttemptLimit["kind"], username: string) {
  const [row] = await db.select().from(loginLimits).where(isFor(kind, username)).prepare("find_limits").execute();
  return row ?? { lockedUntil: null, cooldownUntil: null };
}
