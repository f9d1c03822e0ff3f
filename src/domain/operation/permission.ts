/**
 * The caller's permission, checked again where a change is made: a body can take its time to arrive, and so can a lock. Nothing is
 * locked for the check, because a removal must not wait for the removed caller's requests, however long they take.
 */

import { and, eq, gt, isNull, type SQL, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { AuditAction } from "../../shared/product/audit-actions.ts";
import type { AdminRole } from "../../shared/product/statuses.ts";
import type { Clock } from "../../shared/time/clock.ts";
import { type Database, preparedOnce, type Transaction } from "../../store/client.ts";
import { users } from "../../store/schema.ts";
import { admins, sessions, tokens } from "../../store/schema-auth.ts";

/** The basis of a caller's permission. */
export interface Permit {
  readonly by: "session" | "token";
  /** SHA-256 of the session's cookie, or of the token, in hexadecimal digits. */
  readonly hash: string;
  /** The kind and the id of the caller. */
  readonly userType: "admin" | "user";
  readonly principalId: number;
  /** The roles with which an administrator may do it. */
  readonly roles: readonly AdminRole[];
  /** The company, by its id, that a user must be an active manager of. */
  readonly manages?: number;
}

/** The part of an operation's context that the check needs. */
export interface Asking {
  readonly clock: Clock;
  readonly permit?: Permit | undefined;
}

/**
 * Whether the session or the token exists and the administrator's role suffices, as the surrounding statement sees it; true for
 * callers who cannot lose the permission. Its parameters are `permitParameters`.
 */
export function isPermitted(): SQL<boolean> {
  const { placeholder } = sql;
  const [by, hash] = [placeholder("permitBy"), sql`decode(${placeholder("permitHash")}, 'hex')`];
  const now = sql`${placeholder("permitNow")}::timestamptz`;
  const company = sql`${placeholder("permitManages")}::bigint`;
  const manages = sql`(${company} = 0 or exists (select 1 from ${users} u where u.id = s.principal_id
      and u.company_id = ${company} and u.manager and u.status = 'active' and u.disabled_at is null and u.expire_at > ${now}))`;
  const suffices = (role: SQL) => sql`strpos(${placeholder("permitRoles")}, ' ' || ${role} || ' ') > 0`;
  return sql<boolean>`case ${by}::text when 'session' then exists (
      select 1 from ${sessions} s left join ${admins} a on s.user_type = 'admin' and a.id = s.principal_id
      where s.token_hash = ${hash} and s.expires_at > ${now} 
      and (s.user_type = 'user' and ${manages} or ${suffices(sql`a.role`)}))
    when 'token' then exists (
      select 1 from ${tokens} t join ${admins} a on a.id = t.owner_id where t.token_hash = ${hash} and t.revoked_at is null
      and t.expires_at > ${now} and ${suffices(sql`a.role`)} and ${suffices(sql`t.role`)})
    else true end`;
}

/** The additional parameters of a statement with `isPermitted`. */
export function permitParameters({ clock, permit }: Asking) {
  return {
    permitBy: permit?.by ?? "",
    permitHash: permit?.hash ?? "",
    permitNow: clock.now().toISOString(),
    permitRoles: ` ${permit?.roles.join(" ") ?? ""} `,
    permitManages: permit?.manages ?? 0,
  };
}

const selectPermitted = preparedOnce((db) =>
  db.select({ permitted: isPermitted() }).from(sql`(values (1)) as one`).prepare("is_permitted"),
);

/**
 * Throws `unauthorized` if the caller's session or token no longer exists, and `forbidden` if their role no longer suffices. Throws
 * `conflict` for a disabled user's request, if requests of that action get that answer.
 */
export async function requirePermission(db: Database | Transaction, asking: Asking, action?: AuditAction) {
  if (asking.permit === undefined) return;
  const [row] = await selectPermitted(db).execute(permitParameters(asking));
  if (row?.permitted !== true) throw await refusalOf(db, { ...asking, permit: asking.permit }, action);
}

/**
 * Runs the work before an operation, for permitted callers. If it fails after the caller has lost the permission, the caller learns that
 * instead of the failure: the password of a removed administrator is wrong, too.
 */
export async function whilePermitted<T>(
  asking: Asking & { readonly autocommit: Database },
  action: AuditAction,
  work: () => Promise<T>,
): Promise<T> {
  await requirePermission(asking.autocommit, asking, action);
  try {
    return await work();
  } catch (error) {
    await requirePermission(asking.autocommit, asking, action);
    throw error;
  }
}

/**
 * The context for consequences of a change that is committed, or was begun for good: they go on even if the caller loses the
 * permission.
 */
export function onward<C extends Asking>(context: C): C {
  return { ...context, permit: undefined };
}

/** Actions that refuse a disabled user in the same way whether or not their sessions were ended too. */
const ONLY_WHILE_ACTIVE: ReadonlySet<AuditAction> = new Set([
  "key.create",
  "extension.request",
  "user.lock",
  "user.terms",
]);

async function refusalOf(
  db: Database | Transaction,
  { permit, clock }: Asking & { readonly permit: Permit },
  action: AuditAction | undefined,
): Promise<UamError> {
  const { by, userType, principalId, roles, manages } = permit;
  if (manages !== undefined && (await findManaged(db, principalId, clock.now())) !== manages) return notManager();
  if (userType === "user") return (await shutRefusal(db, principalId, action)) ?? ended();
  const [admin] = await db.select({ role: admins.role }).from(admins).where(eq(admins.id, principalId));
  if (admin !== undefined && !roles.includes(admin.role)) {
    const sentence = `This needs the role ${roles.join(" or ")}, which you no longer have`;
    return new UamError("forbidden", sentence, { reason: "role.insufficient" });
  }
  if (by === "session") return ended();
  const sentence = "The token was revoked, or has ended, since the request came";
  return new UamError("unauthorized", sentence, { reason: "token.revoked" });
}

/** The company that the user manages, as long as they are active; undefined for everybody else. */
export async function findManaged(db: Database | Transaction, userId: number, now: Date): Promise<number | undefined> {
  const active = and(eq(users.status, "active"), isNull(users.disabledAt), gt(users.expireAt, now));
  const [user] = await db
    .select({ companyId: users.companyId })
    .from(users)
    .where(and(eq(users.id, userId), users.manager, active));
  return user?.companyId ?? undefined;
}

/** The refusal of who is no manager, or no longer. */
export function notManager(): UamError {
  return new UamError("forbidden", "Only an active manager of a company may do this", {
    reason: "company.not_manager",
  });
}

async function shutRefusal(db: Database | Transaction, userId: number, action: AuditAction | undefined) {
  if (action === undefined || !ONLY_WHILE_ACTIVE.has(action)) return undefined;
  const [user] = await db.select({ disabledAt: users.disabledAt }).from(users).where(eq(users.id, userId));
  if (user === undefined || user.disabledAt === null) return undefined;
  return new UamError("conflict", "The account was disabled since the request came", { reason: "user.not_active" });
}

function ended(): UamError {
  return new UamError("unauthorized", "The session has ended since the request came; log in again", {
    reason: "session.missing",
  });
}
