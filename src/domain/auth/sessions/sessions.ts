/** Sessions: 256 random bits for the client, their SHA-256 in the database. */

import { createHash, randomBytes } from "node:crypto";
import { and, desc, eq, gt, inArray, lte, ne, sql } from "drizzle-orm";
import type { AdminRole, LoginWay } from "../../../shared/product/statuses.ts";
import { shift } from "../../../shared/time/clock.ts";
import { gathered } from "../../../shared/work/batch-loader.ts";
import { isAnyOf } from "../../../store/any-of.ts";
import type { Database, Transaction } from "../../../store/client.ts";
import { users } from "../../../store/schema.ts";
import { admins, sessions } from "../../../store/schema-auth.ts";
import { passkeys, totpSecrets } from "../../../store/schema-passkeys.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Services } from "../../operation/context.ts";
import { type MissingFactor, missingOf } from "../factors/factors.ts";

export type UserType = "admin" | "user";

/** Who a session belongs to. */
export interface Principal {
  readonly userType: UserType;
  readonly id: number;
  readonly username: string;
  /** Undefined for a user who was deleted while the session was open. */
  readonly email: string | undefined;
  /** An administrator's role now, not at the login; with a token the lesser of its own and that. */
  readonly role?: AdminRole;
  /** How an administrator logged in, where that is known. */
  readonly way?: LoginWay;
  /** What an administrator has to set up first: until then the session may do nothing else. */
  readonly needs?: MissingFactor;
  /** Set where a token was used instead of a session. */
  readonly token?: UsedToken;
}

/** The token that a machine used. */
export interface UsedToken {
  readonly id: number;
  readonly name: string;
  /** The token that it goes back to, which a person made; its own number where that is itself. */
  readonly origin: number;
  readonly expiresAt: Date;
  /** From where it may be used; none means from anywhere. */
  readonly networks: readonly string[];
  /** The present role of the token's owner, where neither it nor the token's includes the other: what is done has to be within both. */
  readonly within?: AdminRole;
}

/** A new session, to be handed to the client once. */
export interface NewSession {
  readonly principal: Principal;
  readonly token: string;
  readonly expiresAt: Date;
}

/**
 * Sessions of one external user at the same time. Their refused changes are counted for each session, so that whoever stole one cannot have the
 * others refused; so there must not be any number of them.
 */
export const MOST_USER_SESSIONS = 10;

/** Opens a session and ends the one the request came with, if any; of an external user's also the oldest, where there are too many. */
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

/** However the clock was set meanwhile, the one that is new is not the oldest. */
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
 * A finder of live sessions. Nothing is cached: a session that was ended anywhere is refused by the next request, and an
 * administrator's role is what it is by then. An administrator who was removed has none; a deleted user's stays valid, so that the routes can say that the user is gone.
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

/** What the session may not do anything without. A passkey and single sign-on are whole logins. */
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

/** Ends every session of a principal, but the one that the token `kept` is for; returns how many. */
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

/** The same as hexadecimal digits, by which rows are told apart. */
export function hexOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString("hex");
}

/**
 * What `$n::bytea[]` is given for these bytes, each as hexadecimal digits (PostgreSQL's manual, 8.4.1 and 8.15.2). Never `$n::text::bytea[]`:
 * such a text is read again for each row that the list is compared with.
 */
export function byteaArray(hex: readonly string[]): string {
  return `{${hex.map((digits) => `"\\\\x${digits}"`).join(",")}}`;
}
