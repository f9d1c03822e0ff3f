/**
 * One-time codes. E-mail and command line share one stored code, one cooldown and one count of wrong answers per username.
 * All of it is kept by submitted name, whether or not a user has it, so that nothing reveals which names exist.
 */

import { randomInt } from "node:crypto";
import { and, eq, gt, isNotNull, lte, sql } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { requireText } from "../../../shared/text/text.ts";
import { HOUR, MINUTE, shift } from "../../../shared/time/clock.ts";
import type { Database, Transaction } from "../../../store/client.ts";
import { type UserRow, users } from "../../../store/schema.ts";
import { otpCodes } from "../../../store/schema-auth.ts";
import { closingsOf, isShutting } from "../../accounts/closings.ts";
import { findUserByName, isExpired, statusAt } from "../../accounts/find-user.ts";
import { parseTypedName } from "../../accounts/username.ts";
import { oneTimeCode } from "../../mail/messages.ts";
import { queueMail } from "../../mail/outbox.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Operation } from "../../operation/context.ts";
import type { AuditDetail, AuditEntry } from "../../operation/entry.ts";
import { type NewSession, openSession } from "../sessions/sessions.ts";
import {
  type AttemptLimit,
  claimAttempt,
  forgetFailures,
  refusal,
  requireUnlocked,
  returnAttempt,
  startCooldown,
} from "./attempts.ts";
import { type CaptchaAnswer, consumeCaptcha } from "./captchas.ts";

/** The least time between two codes for one username. */
const COOLDOWN = MINUTE;
/** After too many wrong answers no code is sent or accepted for this long; after as many again twice as long, and so on. */
const LOCK = 15 * MINUTE;
const LONGEST_LOCK = HOUR;
/** The longest text that is searched for a code. */
const MAX_TYPED_CODE = 64;

/**
 * Uses the captcha up, creates a code and queues the mail with it. For an unknown, disabled or expired user everything but
 * the mail happens, and the answer is the same; only the audit record shows it. Throws `invalid` for a wrong captcha, `limited` during
 * the cooldown and while the name is locked.
 */
export async function sendCode(context: Context, typedName: string, captcha: CaptchaAnswer): Promise<void> {
  const username = parseTypedName(typedName);
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
          // A decoy row costs as much as a real one, so that the time taken reveals nothing either.
          decoy: user === undefined,
        });
        if (user === undefined) op.record({ refused: "There is no active user with that name" });
      },
    },
  );
}

/**
 * Creates a code for the host's operator to hand over, which replaces a mailed one. Throws `not_found` for a user who cannot log in, and
 * `limited` while the name is locked. Where mail is sent, the cooldown counts, so that nobody gets a mail whose code is void already.
 */
export async function printCode(
  context: Context,
  typedName: string,
): Promise<{ readonly username: string; readonly code: string; readonly expiresAt: Date }> {
  const username = parseTypedName(typedName);
  return await audited(
    context,
    { action: "auth.otp_send", detail: { username, channel: "command line" } },
    {
      prepare: () => makeCode(context),
      run: async (op, made) => {
        const user = await issueCode(op, username, made, !context.policy.sendsMail);
        if (user === undefined) throw new UamError("not_found", noSuchUser(username), { reason: "user.missing" });
        op.record({ subjectId: user.id });
        return { username: user.username, code: made.code, expiresAt: made.expiresAt };
      },
    },
  );
}

/**
 * Exchanges a code for a session; a code works once. Throws `unauthorized` for a wrong code and `limited` while the name is
 * locked. At most the limit of simultaneous guesses is evaluated, because each claims its attempt first.
 */
export async function loginWithCode(
  context: Context,
  typedName: string,
  typedCode: string,
  replaces?: string,
): Promise<NewSession> {
  const username = parseTypedName(typedName);
  const code = parseTypedCode(typedCode);
  const entry = { action: "auth.otp_login", ...(await entryAbout(context, username, {})) } as const;
  return await audited(context, entry, {
    prepare: async () => {
      const codeHash = await claimCode(context, username);
      if ((await isRight(context, { username, code, codeHash })) && codeHash !== undefined) return codeHash;
      throw wrongCode();
    },
    run: async (op, codeHash) => {
      const user = await useCode(op, username, codeHash);
      await noteLogin(op, user.id);
      // Only now is it known who asked.
      op.record({ actor: { ...context.actor, type: "user", name: user.username } });
      const principal = { userType: "user", id: user.id, username: user.username, email: user.email } as const;
      return await openSession(op.tx, context, principal, replaces);
    },
  });
}

/** An unknown name may be a password or a code in the wrong field, so it is not recorded. */
async function entryAbout(
  { autocommit, clock }: Context,
  username: string,
  detail: AuditDetail,
): Promise<Pick<AuditEntry, "detail" | "subjectId">> {
  const known = await findUserByName(autocommit, username);
  if (known === undefined) return { detail };
  // Only the record says that nobody can log in as them; the answer is the same for everybody.
  const status = statusAt(known, clock.now());
  return { detail: { username, ...detail, ...(status === "active" ? {} : { status }) }, subjectId: known.id };
}

/** Voids the pending codes, if there are any; waits for a login with one, or for sending it, if that is under way. */
export async function voidCodes(db: Database | Transaction, usernames: readonly string[]): Promise<void> {
  // An update would not see the first code of a name before it is committed; an insert waits for it.
  const none = usernames.map((username) => ({ username, codeHash: null, expiresAt: new Date(0) }));
  await db
    .insert(otpCodes)
    .values(none)
    .onConflictDoUpdate({ target: otpCodes.username, set: { codeHash: null } });
}

/** Deletes codes that have expired. */
export async function purgeCodes({ db, clock }: Pick<Context, "db" | "clock">): Promise<void> {
  await db.delete(otpCodes).where(lte(otpCodes.expiresAt, clock.now()));
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

/** Stores the code and returns the user who may log in with it, if there is one. With `anew` a cooldown does not refuse it. */
async function issueCode(op: Operation, username: string, made: MadeCode, anew = false): Promise<UserRow | undefined> {
  const now = op.context.clock.now();
  if (!(await startCooldown(op.tx, { kind: "code", cooldown: COOLDOWN, anew }, { username, now }))) {
    throw await refusal(op.tx, { kind: "code", what: "A code was sent a moment ago" }, { username, now });
  }
  await requireUnlocked(op.tx, limitOf(op.context), { username, now });
  const fresh = { codeHash: made.codeHash, expiresAt: made.expiresAt };
  await op.tx
    .insert(otpCodes)
    .values({ username, ...fresh })
    .onConflictDoUpdate({ target: otpCodes.username, set: fresh })
    .prepare("issue_code")
    .execute();
  const user = await findUserByName(op.tx, username);
  return user !== undefined && mayLogIn(user, now) ? user : undefined;
}

/**
 * Counts an attempt and returns the hash to compare with, or undefined if no code is pending: then there is nothing to guess.
 * Committed at once, even if the login fails. The last attempt allowed locks the name; a right answer unlocks it.
 */
async function claimCode(context: Context, username: string): Promise<string | undefined> {
  const attempt = { username, now: context.clock.now() };
  const limit = limitOf(context);
  if ((await findCode(context.autocommit, attempt)) === undefined) {
    await requireUnlocked(context.autocommit, limit, attempt);
    return undefined;
  }
  return await context.db.transaction(async (tx) => {
    const lockedUntil = await claimAttempt(tx, limit, attempt);
    // Read again under the lock of the name's row: a login may have used the code up meanwhile.
    const codeHash = await findCode(tx, attempt);
    if (codeHash === undefined) await returnAttempt(tx, limit, username);
    // Void after the last attempt, even if the code is valid for longer.
    else if (lockedUntil !== undefined) await endCodeBy(tx, username, lockedUntil);
    return codeHash;
  });
}

/** The hash of the name's pending code, if there is one. */
async function findCode(db: Database | Transaction, { username, now }: { username: string; now: Date }) {
  const [row] = await db
    .select({ codeHash: otpCodes.codeHash })
    .from(otpCodes)
    .where(and(eq(otpCodes.username, username), isNotNull(otpCodes.codeHash), gt(otpCodes.expiresAt, now)))
    .prepare("find_code")
    .execute();
  return row?.codeHash ?? undefined;
}

async function endCodeBy(tx: Transaction, username: string, time: Date): Promise<void> {
  await tx
    .update(otpCodes)
    .set({ expiresAt: sql`least(${otpCodes.expiresAt}, ${time.toISOString()}::timestamptz)` })
    .where(eq(otpCodes.username, username));
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
    // Too many wait for the hasher: this answer was not evaluated, so it does not count as wrong.
    if (codeHash !== undefined && error instanceof UamError && error.code === "limited") {
      await returnAttempt(context.autocommit, limitOf(context), username);
    }
    throw error;
  }
}

/** Uses the code up; of several simultaneous logins with it one wins. */
async function useCode(op: Operation, username: string, codeHash: string): Promise<UserRow> {
  // Locks the name's row first, as claiming an attempt does.
  await forgetFailures(op.tx, "code", username);
  const [used] = await op.tx
    .update(otpCodes)
    .set({ codeHash: null })
    .where(and(eq(otpCodes.username, username), eq(otpCodes.codeHash, codeHash)))
    .returning({ username: otpCodes.username });
  const user = await findUserByName(op.tx, username);
  if (used === undefined || user === undefined || !mayLogIn(user, op.context.clock.now())) {
    throw wrongCode();
  }
  // Users whose access is being taken away get no session either, although they are not stored as disabled yet.
  if ((await closingsOf(op.tx, user.id)).some(isShutting)) throw wrongCode();
  return user;
}

/** A login does not wait for another operation on the user, which may be busy on the host; its time is then not noted. */
async function noteLogin({ tx, context }: Operation, userId: number): Promise<void> {
  const free = tx.select({ id: users.id }).from(users).where(eq(users.id, userId)).for("update", { skipLocked: true });
  const now = context.clock.now();
  await tx
    .update(users)
    .set({ lastLoginAt: now, seenAt: sql`greatest(${users.seenAt}, ${now.toISOString()}::timestamptz)` })
    .where(eq(users.id, sql`(${free})`))
    .prepare("note_login")
    .execute();
}

function wrongCode(): UamError {
  return new UamError("unauthorized", "The username or the code is wrong", { reason: "code.wrong" });
}

function limitOf({ policy }: Context): AttemptLimit {
  return {
    kind: "code",
    most: policy.otpMaxAttempts,
    period: LOCK,
    longest: LONGEST_LOCK,
    what: "Too many wrong codes",
  };
}

/** The code without the spaces and dashes that people type between its digits. Throws `invalid` if it cannot be a code. */
function parseTypedCode(typed: string): string {
  return requireText("code", typed, MAX_TYPED_CODE).replace(/[\s\p{Dash}]/gu, "");
}

function mayLogIn(user: UserRow, now: Date): boolean {
  return user.status === "active" && !isExpired(user, now);
}

function noSuchUser(username: string): string {
  return `There is no active user named ${username}`;
}
