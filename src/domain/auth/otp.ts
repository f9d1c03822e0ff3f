/**
 * One-time codes. E-mail and command line share one stored code, one cooldown and one limit of wrong answers a username.
 * All of it is kept by submitted name, whether or not a user has it, so that nothing tells which names exist.
 */

import { randomInt } from "node:crypto";
import { and, eq, gt, isNotNull, isNull, lte, or, sql } from "drizzle-orm";
import { MINUTE, shift } from "../../shared/clock.ts";
import { UamError } from "../../shared/errors.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { otpCodes, type UserRow } from "../../store/schema.ts";
import { oneTimeCode } from "../mail/messages.ts";
import { queueMail } from "../mail/outbox.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Operation } from "../operation/context.ts";
import type { AuditDetail, AuditEntry } from "../operation/entry.ts";
import { findUserByName, isExpired } from "../users/find.ts";
import { type CaptchaAnswer, consumeCaptcha } from "./challenges.ts";
import { type NewSession, openSession } from "./sessions.ts";

/** Between two codes for one username. */
const COOLDOWN = MINUTE;
/** After too many wrong answers no code is sent or accepted for so long. */
const LOCK = 15 * MINUTE;

/**
 * Uses the captcha up, makes a code and queues the mail with it. For an unknown, disabled or expired user all happens but
 * the mail, and the answer is the same; only the audit record tells. Throws `invalid` for a wrong captcha, `limited` during
 * the cooldown and while the name is locked.
 */
export async function sendCode(context: Context, username: string, captcha: CaptchaAnswer): Promise<void> {
  return await audited(
    context,
    { action: "auth.otp_send", ...(await entryAbout(context, username, { channel: "mail" })) },
    {
      prepare: async () => {
        await consumeCaptcha(context, captcha);
        return await makeCode(context);
      },
      run: async (op, made) => {
        const { code, expiresAt } = made;
        const user = await issueCode(op, username, made);
        await queueMail(op, {
          recipient: user?.email ?? "",
          message: oneTimeCode(context.policy.site, { username, oneTime: code, ttl: context.policy.otpTtl }),
          expiresAt,
          // A decoy row costs what a real one costs, so that time tells nothing either.
          decoy: user === undefined,
        });
        if (user === undefined) op.learn({ refused: "There is no active user of that name" });
      },
    },
  );
}

/** Makes a code for the operator of the host to hand over; throws `not_found` for who cannot log in. */
export function printCode(
  context: Context,
  username: string,
): Promise<{ readonly code: string; readonly expiresAt: Date }> {
  return audited(
    context,
    { action: "auth.otp_send", detail: { username, channel: "command line" } },
    {
      prepare: () => makeCode(context),
      run: async (op, made) => {
        const user = await issueCode(op, username, made);
        if (user === undefined) throw new UamError("not_found", noSuchUser(username));
        op.learn({ subjectId: user.id });
        return { code: made.code, expiresAt: made.expiresAt };
      },
    },
  );
}

/**
 * Exchanges a code for a session; a code works once. Throws `unauthorized` for a wrong code and `limited` while the name is
 * locked. Of any number of simultaneous guesses at most the limit is evaluated, because each claims its attempt first.
 */
export async function loginWithCode(
  context: Context,
  username: string,
  code: string,
  replaces?: string,
): Promise<NewSession> {
  const entry = { action: "auth.otp_login", ...(await entryAbout(context, username, {})) } as const;
  return await audited(context, entry, {
    prepare: async () => {
      const codeHash = await claimAttempt(context, username);
      if ((await isRight(context, { username, code, codeHash })) && codeHash !== undefined) return codeHash;
      throw wrongCode();
    },
    run: async (op, codeHash) => {
      const user = await useCode(op, username, codeHash);
      // Only now it is known who asked.
      op.learn({ actor: { ...context.actor, type: "user", name: user.username } });
      const principal = { userType: "user", id: user.id, username: user.username, email: user.email } as const;
      return await openSession(op.tx, context, principal, replaces);
    },
  });
}

/** A name that is nobody's may be a password or a code in the wrong field, so it is not recorded. */
async function entryAbout(
  { side }: Context,
  username: string,
  detail: AuditDetail,
): Promise<Pick<AuditEntry, "detail" | "subjectId">> {
  const known = await findUserByName(side, username);
  return known === undefined ? { detail } : { detail: { username, ...detail }, subjectId: known.id };
}

/** Forgets codes that nobody can use or wait for any more. */
export async function purgeCodes(context: Pick<Context, "db" | "clock">): Promise<void> {
  const now = context.clock.now();
  await context.db
    .delete(otpCodes)
    .where(
      and(
        lte(otpCodes.expiresAt, now),
        lte(otpCodes.cooldownUntil, now),
        or(isNull(otpCodes.lockedUntil), lte(otpCodes.lockedUntil, now)),
      ),
    );
}

interface MadeCode {
  readonly code: string;
  readonly codeHash: string;
  readonly expiresAt: Date;
}

async function makeCode({ clock, hasher, policy }: Context): Promise<MadeCode> {
  const code = String(randomInt(100_000_000)).padStart(8, "0");
  return { code, codeHash: await hasher.hashCode(code), expiresAt: shift(clock.now(), policy.otpTtl) };
}

/** Stores the code and returns the user who may log in with it, if there is one. */
async function issueCode(
  op: Operation,
  username: string,
  { codeHash, expiresAt }: MadeCode,
): Promise<UserRow | undefined> {
  const now = op.context.clock.now();
  const fresh = { codeHash, expiresAt, attempts: 0, cooldownUntil: shift(now, COOLDOWN), lockedUntil: null };
  const [row] = await op.tx
    .insert(otpCodes)
    .values({ username, ...fresh })
    .onConflictDoUpdate({
      target: otpCodes.username,
      set: fresh,
      setWhere: and(lte(otpCodes.cooldownUntil, now), or(isNull(otpCodes.lockedUntil), lte(otpCodes.lockedUntil, now))),
    })
    .returning({ username: otpCodes.username })
    .prepare("issue_code")
    .execute();
  if (row === undefined) throw await limited(op.tx, username, now, "A code was sent a moment ago");
  const user = await findUserByName(op.tx, username);
  return user !== undefined && mayLogIn(user, now) ? user : undefined;
}

/**
 * Counts an attempt and returns the hash to compare with, or undefined if no code is out. Committed at once, whatever
 * becomes of the login. The last attempt allowed locks the name; a right answer opens it again.
 */
async function claimAttempt(context: Context, username: string): Promise<string | undefined> {
  const { side, clock, policy } = context;
  const now = clock.now();
  const lockedUntil = sql`case when ${otpCodes.attempts} + 1 >= ${policy.otpMaxAttempts} then ${shift(now, LOCK).toISOString()}::timestamptz end`;
  const [row] = await side
    .update(otpCodes)
    .set({ attempts: sql`${otpCodes.attempts} + 1`, lockedUntil })
    .where(
      and(
        eq(otpCodes.username, username),
        isNotNull(otpCodes.codeHash),
        gt(otpCodes.expiresAt, now),
        sql`${otpCodes.attempts} < ${policy.otpMaxAttempts}`,
      ),
    )
    .returning({ codeHash: otpCodes.codeHash })
    .prepare("claim_attempt")
    .execute();
  if (row !== undefined) return row.codeHash ?? undefined;
  const [locked] = await side
    .select()
    .from(otpCodes)
    .where(and(eq(otpCodes.username, username), gt(otpCodes.lockedUntil, now)));
  if (locked !== undefined) throw await limited(side, username, now, "Too many wrong codes");
  return undefined;
}

interface Guess {
  readonly username: string;
  readonly code: string;
  readonly codeHash: string | undefined;
}

async function isRight(context: Context, { username, code, codeHash }: Guess): Promise<boolean> {
  try {
    if (codeHash !== undefined) return await context.hasher.verifyCode(codeHash, code);
    await context.hasher.verifyDummyCode(code);
    return false;
  } catch (error) {
    // Too many wait for the hasher: this one was not looked at, so it was no wrong answer.
    if (codeHash !== undefined && error instanceof UamError && error.code === "limited") {
      await returnAttempt(context, username, codeHash);
    }
    throw error;
  }
}

/** Takes back what `claimAttempt` counted, and the lock if it was that count that locked. */
async function returnAttempt({ side }: Context, username: string, codeHash: string): Promise<void> {
  await side
    .update(otpCodes)
    .set({ attempts: sql`greatest(${otpCodes.attempts} - 1, 0)`, lockedUntil: null })
    .where(and(eq(otpCodes.username, username), eq(otpCodes.codeHash, codeHash)));
}

/** Takes the code out of use; of several logins with it one wins. */
async function useCode(op: Operation, username: string, codeHash: string): Promise<UserRow> {
  const [used] = await op.tx
    .update(otpCodes)
    .set({ codeHash: null, attempts: 0, lockedUntil: null })
    .where(and(eq(otpCodes.username, username), eq(otpCodes.codeHash, codeHash)))
    .returning({ username: otpCodes.username });
  const user = await findUserByName(op.tx, username);
  if (used === undefined || user === undefined || !mayLogIn(user, op.context.clock.now())) {
    throw wrongCode();
  }
  return user;
}

function wrongCode(): UamError {
  return new UamError("unauthorized", "The username or the code is wrong");
}

async function limited(db: Database | Transaction, username: string, now: Date, what: string): Promise<UamError> {
  const [row] = await db.select().from(otpCodes).where(eq(otpCodes.username, username));
  const until = Math.max(row?.cooldownUntil.getTime() ?? 0, row?.lockedUntil?.getTime() ?? 0);
  const retryAfter = Math.max(1, Math.ceil((until - now.getTime()) / 1000));
  return new UamError("limited", `${what} for this username; try again in ${retryAfter} seconds`, { retryAfter });
}

function mayLogIn(user: UserRow, now: Date): boolean {
  return user.status === "active" && !isExpired(user, now);
}

function noSuchUser(username: string): string {
  return `There is no active user named ${username}`;
}
