/** Administrators: logging in with a password, and the lock-out after wrong ones. */

import { eq, isNull, lte, or, sql } from "drizzle-orm";
import { shift } from "../../shared/clock.ts";
import { UamError } from "../../shared/errors.ts";
import { type Database, isDuplicate, type Transaction } from "../../store/client.ts";
import { type AdminRow, admins, loginLocks } from "../../store/schema.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { parseEmail } from "../users/username.ts";
import { checkPassword } from "./passwords.ts";
import { type NewSession, openSession } from "./sessions.ts";

const ADMIN_NAME = /^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$/;

/**
 * Opens a session for the right password. Throws `unauthorized` for a wrong name or password, and `limited` while the name
 * is locked, right password included; unknown names lock the same way. Each attempt is counted before it is evaluated, so
 * that of any number of simultaneous guesses at most the limit is evaluated.
 */
export async function loginAdmin(
  context: Context,
  username: string,
  password: string,
  replaces?: string,
): Promise<NewSession> {
  const known = await findAdmin(context.side, username);
  // A name that is nobody's may be a password in the wrong field, so it is not recorded.
  const about = known === undefined ? {} : { detail: { username } };
  return await audited(
    context,
    { action: "auth.admin_login", ...about },
    {
      prepare: async () => {
        await claimAttempt(context, username);
        const admin = await findAdmin(context.side, username);
        if ((await isRight(context, { username, password, admin })) && admin !== undefined) return admin;
        throw wrongPassword();
      },
      run: async (op, verified) => {
        await unlock(op.tx, username);
        // Locked: of a login and a reset at the same time, the reset ends the session or the login sees the new password.
        const [admin] = await op.tx.select().from(admins).where(eq(admins.username, username)).for("share");
        // Removed, or given another password, while this one was being verified.
        if (admin?.passwordHash !== verified.passwordHash) throw wrongPassword();
        // Only now it is known who asked.
        op.learn({ actor: { ...context.actor, type: "admin", name: admin.username } });
        const principal = { userType: "admin", id: admin.id, username: admin.username, email: admin.email } as const;
        return await openSession(op.tx, context, principal, replaces);
      },
    },
  );
}

/** Adds an administrator; throws `conflict` if the name is taken. */
export function addAdmin(context: Context, username: string, email: string, password: string): Promise<AdminRow> {
  const entry = { action: "admin.create", detail: { username, email } } as const;
  return audited(context, entry, {
    prepare: async () => {
      checkAdminName(username);
      parseEmail(email);
      checkPassword(password, username);
      return await context.hasher.hash(password);
    },
    run: async (op, passwordHash) => {
      const now = context.clock.now();
      const row = await insertAdmin(op.tx, { username, email, passwordHash, createdAt: now, updatedAt: now });
      op.learn({ resourceId: String(row.id) });
      return row;
    },
  });
}

function checkAdminName(username: string): void {
  if (ADMIN_NAME.test(username)) return;
  throw new UamError(
    "invalid",
    "An administrator's name must be 1 to 64 characters of a-z, 0-9, dot, _ and -, and must begin and end with a letter or digit",
  );
}

async function insertAdmin(tx: Transaction, admin: typeof admins.$inferInsert): Promise<AdminRow> {
  try {
    const [row] = await tx.insert(admins).values(admin).returning();
    if (row === undefined) throw new Error("insert returned no row");
    return row;
  } catch (error) {
    if (isDuplicate(error, "admins_username_unique"))
      throw new UamError("conflict", `The administrator ${admin.username} exists already`);
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

/** Forgets failures of a name. What changes an administrator begins with this: rows are locked in one order, so that nobody waits in a circle. */
export async function unlock(tx: Transaction, username: string): Promise<void> {
  await tx.update(loginLocks).set({ failures: 0, lockedUntil: null }).where(eq(loginLocks.username, username));
}

interface Attempt {
  readonly username: string;
  readonly password: string;
  readonly admin: AdminRow | undefined;
}

async function isRight(context: Context, { username, password, admin }: Attempt): Promise<boolean> {
  try {
    if (admin !== undefined) return await context.hasher.verify(admin.passwordHash, password);
    // An unknown name costs as much time as a known one.
    await context.hasher.verifyDummy(password);
    return false;
  } catch (error) {
    // Too many wait for the hasher: this one was not looked at, so it was no failure.
    if (error instanceof UamError && error.code === "limited") await returnAttempt(context, username);
    throw error;
  }
}

function wrongPassword(): UamError {
  return new UamError("unauthorized", "The username or the password is wrong");
}

/** Counts a failure in advance; the one that reaches the threshold locks the name. Committed at once. */
async function claimAttempt(context: Context, username: string): Promise<void> {
  const { side, clock, policy } = context;
  const now = clock.now();
  const until = shift(now, policy.lockoutPeriod).toISOString();
  // A lock that has run out counts as no failure.
  const failures = sql`case when ${loginLocks.lockedUntil} is null then ${loginLocks.failures} + 1 else 1 end`;
  const lock = (n: ReturnType<typeof sql>) =>
    sql`case when ${n} >= ${policy.lockoutThreshold} then ${until}::timestamptz end`;
  const [row] = await side
    .insert(loginLocks)
    .values({ username, failures: 1, lockedUntil: lock(sql`1`), updatedAt: now })
    .onConflictDoUpdate({
      target: loginLocks.username,
      set: { failures, lockedUntil: lock(failures), updatedAt: now },
      setWhere: or(isNull(loginLocks.lockedUntil), lte(loginLocks.lockedUntil, now)),
    })
    .returning({ username: loginLocks.username })
    .prepare("claim_login")
    .execute();
  if (row !== undefined) return;
  const [locked] = await side.select().from(loginLocks).where(eq(loginLocks.username, username));
  const retryAfter = Math.max(1, Math.ceil(((locked?.lockedUntil?.getTime() ?? 0) - now.getTime()) / 1000));
  throw new UamError("limited", `Too many failed logins for this username; try again in ${retryAfter} seconds`, {
    retryAfter,
  });
}

/** Takes back what `claimAttempt` counted, and the lock if it was that count that locked. */
async function returnAttempt({ side }: Context, username: string): Promise<void> {
  await side
    .update(loginLocks)
    .set({ failures: sql`greatest(${loginLocks.failures} - 1, 0)`, lockedUntil: null })
    .where(eq(loginLocks.username, username));
}
