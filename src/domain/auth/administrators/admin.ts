/** Administrators: their rows, their passwords, and the lockout after wrong ones. Logging in is in admin-login.ts. */

import { eq } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import type { AdminRole } from "../../../shared/product/statuses.ts";
import { ADMIN_NAME } from "../../../shared/text/person.ts";
import { type Database, isDuplicate, type Transaction } from "../../../store/client.ts";
import { type AdminRow, admins } from "../../../store/schema-auth.ts";
import { parseEmail } from "../../accounts/username.ts";
import { audited } from "../../operation/audited.ts";
import type { Context } from "../../operation/context.ts";
import { type AttemptLimit, claimAttempt, forgetFailures, returnAttempt } from "../codes/attempts.ts";
import { type CaptchaAnswer, consumeCaptcha } from "../codes/captchas.ts";
import { checkPassword } from "./passwords.ts";

/**
 * Counts an attempt and returns the administrator with that password; the caller must then call `forgetFailures`. Undefined for a wrong name
 * or password. Throws `limited` while the name is locked, even for the right password, and `invalid` for a wrong captcha. A solved captcha
 * gets a place that strangers do not get.
 */
export async function tryPassword(
  context: Context,
  username: string,
  password: string,
  captcha?: CaptchaAnswer,
): Promise<AdminRow | undefined> {
  // First: a wrong captcha does not count as an attempt.
  if (captcha !== undefined) await consumeCaptcha(context, captcha);
  const hasSolved = captcha !== undefined && context.policy.captcha !== "off";
  const isKnown = hasSolved || context.actor.type !== "anonymous";
  await claimAttempt(context.autocommit, limitOf(context), { username, now: context.clock.now() });
  const admin = await findAdmin(context.autocommit, username);
  return (await isRight(context, { username, password, admin, isKnown })) ? admin : undefined;
}

/** Takes back the attempt that `tryPassword` counted: its password was right, but the operation may still fail. */
export async function returnRightAttempt(context: Context, username: string): Promise<void> {
  await returnAttempt(context.autocommit, limitOf(context), username);
}

/** Adds an administrator with a password, at the shell; throws `conflict` if the name is taken. */
export function addAdmin(
  context: Context,
  username: string,
  typedEmail: string,
  password: string,
  role: AdminRole = "owner",
): Promise<AdminRow> {
  const entry = { action: "admin.create", detail: { username, email: typedEmail, role } } as const;
  return audited(context, entry, {
    prepare: async () => {
      checkAdminName(username);
      const email = parseEmail(typedEmail);
      checkPassword(password, username);
      return { email, passwordHash: await context.hasher.hash(password) };
    },
    run: async (op, made) => {
      const now = context.clock.now();
      const row = await insertAdmin(op.tx, { username, role, ...made, createdAt: now, updatedAt: now });
      op.record({ resourceId: String(row.id), detail: { email: row.email } });
      return row;
    },
  });
}

/** Throws `invalid` for a text that cannot be an administrator's name. */
export function checkAdminName(username: string): void {
  if (ADMIN_NAME.test(username)) return;
  throw new UamError(
    "invalid",
    "An administrator's name must be 1 to 64 characters of a-z, 0-9, dot, _ and -, and must begin and end with a letter or digit",
  );
}

/** Stores an administrator; throws `conflict` if the name is taken. */
export async function insertAdmin(tx: Transaction, admin: typeof admins.$inferInsert): Promise<AdminRow> {
  try {
    const [row] = await tx.insert(admins).values(admin).returning();
    if (row === undefined) throw new Error("insert returned no row");
    return row;
  } catch (error) {
    if (isDuplicate(error, "admins_username_unique"))
      throw new UamError("conflict", `The administrator ${admin.username} already exists`, { reason: "admin.taken" });
    throw error;
  }
}

/** Whether there is any administrator. */
export async function hasAdmins(db: Database | Transaction): Promise<boolean> {
  return (await db.select({ id: admins.id }).from(admins).limit(1)).length > 0;
}

/** The administrator of that name, or undefined. */
export async function findAdmin(db: Database | Transaction, username: string): Promise<AdminRow | undefined> {
  const [admin] = await db.select().from(admins).where(eq(admins.username, username)).prepare("find_admin").execute();
  return admin;
}

/** The administrator with that id, or undefined. */
export async function findAdminById(db: Database | Transaction, id: number): Promise<AdminRow | undefined> {
  const [admin] = await db.select().from(admins).where(eq(admins.id, id));
  return admin;
}

/** Forgets a name's failures. Every change to an administrator begins with this: rows are locked in one order, which rules out deadlocks. */
export async function unlock(tx: Transaction, username: string): Promise<void> {
  await forgetFailures(tx, "password", username);
}

interface Attempt {
  readonly username: string;
  readonly password: string;
  readonly admin: AdminRow | undefined;
  readonly isKnown: boolean;
}

async function isRight(context: Context, { username, password, admin, isKnown }: Attempt): Promise<boolean> {
  try {
    const stored = admin?.passwordHash ?? undefined;
    if (stored !== undefined) return await context.hasher.verify(stored, password, isKnown);
    // An unknown name, or an administrator without a password, takes as much time as a known one.
    await context.hasher.verifyDummy(password, isKnown);
    return false;
  } catch (error) {
    // Too many wait for the hasher: this attempt was not evaluated, so it does not count as a failure.
    if (error instanceof UamError && error.code === "limited")
      await returnAttempt(context.autocommit, limitOf(context), username);
    throw error;
  }
}

/** The answer to a wrong name or password. */
export function wrongPassword(): UamError {
  return new UamError("unauthorized", "The username or the password is wrong", { reason: "login.wrong" });
}

/** Consecutive failures; every lock lasts equally long. */
function limitOf({ policy }: Context): AttemptLimit {
  const { lockoutThreshold: most, lockoutPeriod: period } = policy;
  return { kind: "password", most, period, longest: period, what: "Too many failed logins" };
}
