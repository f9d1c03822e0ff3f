/** Sessions: 256 random bits for the client, their SHA-256 in the database. */

import { createHash, randomBytes } from "node:crypto";
import { and, desc, eq, gt, inArray, lte, ne, sql } from "drizzle-orm";
import type { AdminRole, LoginWay } from "../../../shared/product/statuses.ts";
import { shift } from "../../../shared/time/clock.ts";
import { gathered } from "../../../shared/work/batch-loader.ts";
import type { Database, Transaction } from "../../../store/client.ts";
import { isAnyOf } from "../../../store/conditions.ts";
import { users } from "../../../store/schema.ts";
import { admins, sessions } from "../../../store/schema-auth.ts";
import { passkeys, totpSecrets } from "../../../store/schema-passkeys.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Services } from "../../operation/context.ts";
import { type MissingFactor, missingOf } from "../required-factors.ts";

export type UserType = "admin" | "user";

/** The owner of a session. */
export interface Principal {
  readonly userType: UserType;
  readonly id: number;
  readonly username: string;
  /** Undefined for a user who was deleted while the session was open. */
  readonly email: string | undefined;
  /** An administrator's current role, not the one at the login; for a token, the lesser of its own and that. */
  readonly role?: AdminRole;
  /** How an administrator logged in, if known. */
  readonly way?: LoginWay;
  /** The factor that an administrator must set up first: until then the session may do nothing else. */
  readonly needs?: MissingFactor;
  /** Set if a token was used instead of a session. */
  readonly token?: UsedToken;
}

/** The token that a machine used. */
export interface UsedToken {
  readonly id: number;
  readonly name: string;
  /** The token that a person made and that this one goes back to; its own number if a person made it. */
  readonly origin: number;
  readonly expiresAt: Date;
  /** The networks from which it may be used; empty means from anywhere. */
  readonly networks: readonly string[];
  /** The current role of the token's owner, if neither it nor the token's role includes the other: requests have to be within both. */
  readonly within?: AdminRole;
}

/** The administrator and the session that ask. */
export interface OwnSession {
  readonly principal: Principal;
  readonly token: string;
}

/** A new session, to be handed to the client once. */
export interface NewSession {
  readonly principal: Principal;
  readonly token: string;
  readonly expiresAt: Date;
}

/**
 * Most sessions of one external user at the same time. Refused changes are counted for each session, so that a thief of one cannot have the
 * others refused; so the number of sessions must be bounded.
 */
export const MOST_USER_SESSIONS = 10;

/** Opens a session and ends the one that the request came with, if any; for an external user with too many, also the oldest. */
export async function openSession(
  tx: Transaction,
  context: Pick<Context, "clock" | "policy">,
  principal: Principal,
  replaces?: string,
): Promise<NewSession> {
  const now = context.clock.now();
  const token = randomBytes(32).toString("base64url");
  const expiresAt = shift(now, context.policy.sessionTtl);
  if (replaces !== undefined) await tx.delete(sessions).where(eq(sessions.tokenHash, hashToken(replaces)));
  await tx.insert(sessions).values({
    tokenHash: hashToken(token),
    userType: principal.userType,
    principalId: principal.id,
    username: principal.username,
    way: principal.way ?? "",
    createdAt: now,
    expiresAt,
  });
  if (principal.userType === "user") await endOldest(tx, principal.id, token);
  return { principal, token, expiresAt };
}

/** Even if the clock was set meanwhile, the new session is not the oldest. */
async function endOldest(tx: Transaction, userId: number, added: string): Promise<void> {
  const { tokenHash, userType, principalId, createdAt } = sessions;
  const others = and(eq(userType, "user"), eq(principalId, userId), ne(tokenHash, hashToken(added)));
  const open = await tx.select({ tokenHash }).from(sessions).where(others).orderBy(desc(createdAt));
  const ending = open.slice(MOST_USER_SESSIONS - 1).map((session) => session.tokenHash);
  if (ending.length > 0) await tx.delete(sessions).where(inArray(tokenHash, ending));
}

/** Looks sessions up by their token; one statement, prepared once, for all requests of a moment. */
export type SessionFinder = (token: string) => Promise<Principal | undefined>;

/**
 * A finder of live sessions. Nothing is cached: the next request refuses a session that was ended anywhere, and sees an administrator's new role. A removed
 * administrator has no session; a deleted user's stays valid, so that the routes can say that the user is gone.
 */
export function createSessionFinder(
  services: Pick<Services, "db" | "clock"> & { readonly policy: Pick<Services["policy"], "adminLogin"> },
): SessionFinder {
  const query = services.db
    .select({
      hash: sql<string>`encode(${sessions.tokenHash}, 'hex')`,
      userType: sessions.userType,
      id: sessions.principalId,
      username: sessions.username,
      userEmail: users.email,
      adminEmail: admins.email,
      role: admins.role,
      way: sessions.way,
      passkeys: sql<number>`(case when ${admins.id} is not null then (select count(*) from ${passkeys} where ${passkeys.adminId} = ${admins.id}) else 0 end)::int`,
      totp: sql<boolean>`case when ${admins.id} is not null then exists (select 1 from ${totpSecrets} where ${totpSecrets.adminId} = ${admins.id}) else false end`,
    })
    .from(sessions)
    .leftJoin(users, and(eq(sessions.userType, "user"), eq(users.id, sessions.principalId)))
    .leftJoin(admins, and(eq(sessions.userType, "admin"), eq(admins.id, sessions.principalId)))
    .where(
      and(
        isAnyOf(sessions.tokenHash, "bytea[]", sql`${sql.placeholder("hashes")}`),
        gt(sessions.expiresAt, sql.placeholder("now")),
      ),
    )
    .prepare("find_session");
  const find = gathered(
    async (hashes: readonly string[]) =>
      await query.execute({ hashes: byteaArray(hashes), now: services.clock.now().toISOString() }),
    ({ hash }) => hash,
  );
  return async (token) => {
    const [row] = await find(hexOf(hashToken(token)));
    if (row === undefined) return undefined;
    const { userType, id, username, adminEmail, role } = row;
    if (userType === "user") return { userType, id, username, email: row.userEmail ?? undefined };
    if (adminEmail === null || role === null) return undefined;
    const principal = { userType, id, username, email: adminEmail, role };
    if (row.way === "") return { ...principal, ...needsOf(services.policy, row) };
    return { ...principal, way: row.way, ...needsOf(services.policy, row) };
  };
}

/** The factor that the session must set up first. A passkey and single sign-on are whole logins. */
function needsOf(
  { adminLogin }: Pick<Services["policy"], "adminLogin">,
  { way, passkeys, totp }: { readonly way: LoginWay | ""; readonly passkeys: number; readonly totp: boolean },
): Pick<Principal, "needs"> {
  const needs = way === "passkey" || way === "oidc" ? undefined : missingOf(adminLogin, { passkeys, totp });
  return needs === undefined ? {} : { needs };
}

/** Ends the session; audited as the principal's logout. */
export function logout(context: Context, principal: Principal, token: string): Promise<void> {
  const subject = principal.userType === "user" ? { subjectId: principal.id } : {};
  return audited(context, { action: "auth.logout", ...subject }, async (op) => {
    await op.tx.delete(sessions).where(eq(sessions.tokenHash, hashToken(token)));
  });
}

/** Ends every session of a principal, except the one of the token `kept`; returns how many. */
export async function endSessionsOf(
  tx: Transaction | Database,
  userType: UserType,
  id: number,
  kept?: string,
): Promise<number> {
  const others = kept === undefined ? undefined : ne(sessions.tokenHash, hashToken(kept));
  const its = and(eq(sessions.userType, userType), eq(sessions.principalId, id), others);
  return (await tx.delete(sessions).where(its).returning({ username: sessions.username })).length;
}

/** Removes expired sessions; they are already refused. */
export async function purgeSessions(services: Services): Promise<void> {
  await services.db.delete(sessions).where(lte(sessions.expiresAt, services.clock.now()));
}

/** SHA-256 of a random token: no salt or stretching is needed for 256 random bits. */
export function hashToken(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}

/** The same as hexadecimal digits, the key by which rows are found. */
export function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString("hex");
}

/**
 * The value of `$n::bytea[]` for these bytes, each as hexadecimal digits (PostgreSQL's manual, 8.4.1 and 8.15.2). Never `$n::text::bytea[]`:
 * such a text is read again for each row that the list is compared with.
 */
export function byteaArray(hex: readonly string[]): string {
  return `{${hex.map((digits) => `"\\\\x${digits}"`).join(",")}}`;
}
