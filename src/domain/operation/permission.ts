/**
 * The caller's permission, looked at again where a change is made: a body can take its time to arrive, and so can a lock. Nothing is
 * locked for it, because a removal must not wait for what the removed one does, however long that takes.
 */

import { eq, type SQL, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { AuditAction } from "../../shared/product/audit-actions.ts";
import type { AdminRole } from "../../shared/product/statuses.ts";
import type { Clock } from "../../shared/time/clock.ts";
import { type Database, preparedOnce, type Transaction } from "../../store/client.ts";
import { users } from "../../store/schema.ts";
import { admins, sessions, tokens } from "../../store/schema-auth.ts";

/** What the permission of a caller rests on. */
export interface Permit {
  readonly by: "session" | "token";
  /** SHA-256 of the session's cookie, or of the token, in hexadecimal digits. */
  readonly hash: string;
  /** Whose it is. */
  readonly userType: "admin" | "user";
  readonly principalId: number;
  /** The roles with which an administrator may do it. */
  readonly roles: readonly AdminRole[];
}

/** What of an operation's context says whether the caller may still ask. */
export interface Asking {
  readonly clock: Clock;
  readonly permit?: Permit | undefined;
}

/**
 * Whether the session, or the token, is there, and an administrator's role suffices, by what the statement that this is part of sees;
 * true where nobody asks who could lose the permission. Its parameters are `permitParameters`.
 */
export function isPermitted(): SQL<boolean> {
  const { placeholder } = sql;
  const [by, hash] = [placeholder("permitBy"), sql`decode(${placeholder("permitHash")}, 'hex')`];
  const now = sql`${placeholder("permitNow")}::timestamptz`;
  const suffices = (role: SQL) => sql`strpos(${placeholder("permitRoles")}, ' ' || ${role} || ' ') > 0`;
  return sql<boolean>`case ${by}::text when 'session' then exists (
      select 1 from ${sessions} s left join ${admins} a on s.user_type = 'admin' and a.id = s.principal_id
      where s.token_hash = ${hash} and s.expires_at > ${now} and (s.user_type = 'user' or ${suffices(sql`a.role`)}))
    when 'token' then exists (
      select 1 from ${tokens} t join ${admins} a on a.id = t.owner_id where t.token_hash = ${hash} and t.revoked_at is null
      and t.expires_at > ${now} and ${suffices(sql`a.role`)} and ${suffices(sql`t.role`)})
    else true end`;
}

/** What a statement with `isPermitted` is given besides its own parameters. */
export function permitParameters({ clock, permit }: Asking) {
  return {
    permitBy: permit?.by ?? "",
    permitHash: permit?.hash ?? "",
    permitNow: clock.now().toISOString(),
    permitRoles: ` ${permit?.roles.join(" ") ?? ""} `,
  };
}

const selectPermitted = preparedOnce((db) =>
  db.select({ permitted: isPermitted() }).from(sql`(values (1)) as one`).prepare("is_permitted"),
);

/**
 * Throws `unauthorized` if the caller's session or token is there no more, `forbidden` if their role does not suffice any more; and
 * `conflict` for what a user asks who was shut, where that is how such a request is answered.
 */
export async function requirePermission(db: Database | Transaction, asking: Asking, action?: AuditAction) {
  if (asking.permit === undefined) return;
  const [row] = await selectPermitted(db).execute(permitParameters(asking));
  if (row?.permitted !== true) throw await refusalOf(db, asking.permit, action);
}

/**
 * Does what comes before an operation, for who is permitted. Who has lost the permission by the time that it fails is told that, and not what
 * failed: the password of who was removed is wrong, too.
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

/** The context of what follows from a change that is committed, or was begun for good: it goes on, whatever becomes of who asked. */
export function onward<C extends Asking>(context: C): C {
  return { ...context, permit: undefined };
}

/** What a user who was shut is answered in the same way whether or not the sessions were ended with it. */
const ONLY_WHILE_ACTIVE: ReadonlySet<AuditAction> = new Set(["key.create", "extension.request", "user.lock"]);

async function refusalOf(
  db: Database | Transaction,
  permit: Permit,
  action: AuditAction | undefined,
): Promise<UamError> {
  const { by, userType, principalId, roles } = permit;
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
