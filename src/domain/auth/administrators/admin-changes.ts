/** Changes to administrators, by an owner or the host's operator; the service's log reports them too, for monitoring. */

import { and, asc, count, desc, eq, isNotNull, or } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { offsetOf, type Page, type Paged } from "../../../shared/product/page.ts";
import type { AdminRole } from "../../../shared/product/statuses.ts";
import { type AdminRow, admins, resetTokens } from "../../../store/schema-auth.ts";
import { parseEmail } from "../../accounts/username.ts";
import { adminAddressRemoved, adminAddressSet } from "../../mail/admin-messages.ts";
import { factorsRemoved } from "../../mail/factor-messages.ts";
import { queueMail } from "../../mail/outbox.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Operation } from "../../operation/context.ts";
import { type AuditEntry, nameForPeople } from "../../operation/entry.ts";
import { forgetFailures } from "../codes/attempts.ts";
import { readFactors, tellOwner } from "../factors/factors.ts";
import { removePasskeysOf } from "../factors/passkeys.ts";
import { unlock } from "../factors/password.ts";
import { removeAppOf } from "../factors/totp.ts";
import { findAdminById } from "../find-administrator.ts";
import { endSessionsOf } from "../sessions/sessions.ts";
import { voidJoinLines } from "../tokens/join-lines.ts";
import { revokeTokensOf } from "../tokens/tokens.ts";
import { mailInvitation } from "./admin-invitation.ts";
import {
  type AdminEntry,
  type AdminRef,
  entriesOf,
  entryOf,
  lockAdmins,
  requireAdmin,
  requireOther,
  requireOtherOwner,
  requireStillOwner,
} from "./admin-rows.ts";
import { takeBackWhatLetsIn, webhooksOf } from "./left-behind.ts";
import { checkPassword } from "./passwords.ts";

/** Every administrator, by name. */
export async function listAdmins(context: Context): Promise<readonly AdminEntry[]> {
  return await entriesOf(context.db, await context.db.select().from(admins).orderBy(asc(admins.username)));
}

/** One page of administrators, newest first. */
export async function pageAdmins(context: Context, page: Page): Promise<Paged<AdminEntry>> {
  // One snapshot, so that `total` and `items` agree.
  return await context.db.transaction(
    async (tx) => {
      const [row] = await tx.select({ total: count() }).from(admins);
      const total = row?.total ?? 0;
      const offset = offsetOf(page);
      // A page far beyond the end has an offset that no database takes.
      if (offset >= total) return { total, items: [] };
      const rows = await tx.select().from(admins).orderBy(desc(admins.id)).limit(page.pageSize).offset(offset);
      return { total, items: await entriesOf(tx, rows) };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** Whether anybody is an owner who can log in. */
export async function hasOwner({ db }: Pick<Context, "db">): Promise<boolean> {
  const isOwner = and(eq(admins.role, "owner"), or(isNotNull(admins.passwordHash), admins.sso));
  return (await db.select({ id: admins.id }).from(admins).where(isOwner).limit(1)).length > 0;
}

export interface AdminChanges {
  readonly email?: string | undefined;
  readonly role?: AdminRole | undefined;
}

/**
 * Changes an administrator's address or role, from their next request on. Anything they made above the new role becomes void. A new address voids a link that
 * was mailed to the old one; both addresses are told, and an invited administrator is invited again. Throws `not_found`, `invalid`, `forbidden` if the caller
 * is no longer an owner, and `conflict` if no owner would be left, unless given "even-the-last".
 */
export async function updateAdmin(
  context: Context,
  who: AdminRef,
  { email, role, which }: AdminChanges & { readonly which?: "even-the-last" },
): Promise<AdminEntry> {
  const changed = await audited(context, entryAbout("admin.update", who), async (op) => {
    const all = await lockAdmins(op.tx);
    const admin = requireAdmin(all, who);
    op.about({ detail: { username: admin.username } });
    if (role !== undefined && which === undefined) requireOwnRole(admin, role);
    if (role !== undefined && role !== "owner" && which === undefined) requireOtherOwner(all, admin);
    requireStillOwner(context, all);
    const supplied = {
      ...(email === undefined ? {} : { email: parseEmail(email) }),
      ...(role === undefined ? {} : { role }),
    };
    const fields = Object.keys(supplied) as (keyof typeof supplied)[];
    const old = Object.fromEntries(fields.map((field) => [`old_${field}`, admin[field]]));
    op.record({ resourceId: String(admin.id), detail: { ...supplied, ...old } });
    const after = { ...admin, ...supplied, updatedAt: context.clock.now() };
    await op.tx
      .update(admins)
      .set({ ...supplied, updatedAt: after.updatedAt })
      .where(eq(admins.id, admin.id));
    if (after.email !== admin.email) await moveAddress(op, admin, after);
    if (after.role !== admin.role) await takeBackWhatLetsIn(op, admin, after.role);
    return entryOf(after, await readFactors(op.tx, admin.id));
  });
  report(context, "an administrator was changed", changed.username);
  return changed;
}

/** An administrator with a new password. */
export interface ResetAdmin {
  readonly entry: AdminEntry;
  /** The login factors that were removed, such as "the passkey Laptop". */
  readonly removed: readonly string[];
  /** How many tokens for machines were revoked. */
  readonly tokens: number;
}

/**
 * Sets a new password for the administrator and makes it the only way in: removes their passkeys and authenticator app, on record, ends every session, revokes
 * every token, voids a pending reset token and the lines for joining hosts, and clears the locks of the name. Throws `not_found`, and `invalid` for a password
 * that is not allowed.
 */
export async function setAdminPassword(context: Context, username: string, password: string): Promise<ResetAdmin> {
  const entry = { action: "admin.update", detail: { username, changed: "password" } } as const;
  const changed = await audited(context, entry, {
    prepare: async () => {
      checkPassword(password, username);
      return await context.hasher.hash(password);
    },
    run: async (op, passwordHash) => {
      await unlock(op.tx, username);
      await forgetFailures(op.tx, "totp", username);
      const rows = await op.tx.select().from(admins).where(eq(admins.username, username)).for("update");
      const admin = requireAdmin(rows, username);
      const after = { ...admin, passwordHash, updatedAt: context.clock.now() };
      await op.tx.update(admins).set({ passwordHash, updatedAt: after.updatedAt }).where(eq(admins.id, admin.id));
      await op.tx.delete(resetTokens).where(eq(resetTokens.adminId, admin.id));
      await endSessionsOf(op.tx, "admin", admin.id);
      await voidJoinLines(op, admin.id);
      const tokens = await revokeTokensOf(op, admin);
      op.record({ resourceId: String(admin.id) });
      const removed = [...(await removePasskeysOf(op, admin)), ...(await removeAppOf(op, admin))];
      if (removed.length > 0) await tellOwner(op, admin, factorsRemoved, removed);
      return { entry: entryOf(after), removed, tokens };
    },
  });
  report(context, "an administrator's password was changed, and their sessions were ended", username);
  return changed;
}

export interface RemovedAdmin extends AdminEntry {
  /** Their webhooks, which stay active, each by its number and destination. */
  readonly webhooks: readonly string[];
}

/**
 * Removes the administrator, ends every session, revokes every token, and voids everything they made that lets somebody in. Removes the last administrator or
 * the last owner only with "even-the-last", because after that nobody can add administrators. Throws `not_found`, `conflict`, and `forbidden` if the caller is
 * no longer an owner.
 */
export async function removeAdmin(context: Context, who: AdminRef, which?: "even-the-last"): Promise<RemovedAdmin> {
  const removed = await audited(context, entryAbout("admin.remove", who), async (op) => {
    const { tx } = op;
    // Before the rows are locked: see `unlock`.
    await unlock(tx, typeof who === "string" ? who : ((await findAdminById(tx, who))?.username ?? ""));
    const all = await lockAdmins(tx);
    const admin = requireAdmin(all, who);
    op.about({ detail: { username: admin.username } });
    if (which === undefined) requireOther(context, all, admin);
    requireStillOwner(context, all);
    await tx.delete(admins).where(eq(admins.id, admin.id));
    await endSessionsOf(tx, "admin", admin.id);
    await takeBackWhatLetsIn(op, admin);
    op.record({ resourceId: String(admin.id), detail: { email: admin.email, role: admin.role } });
    return { ...entryOf(admin), webhooks: await webhooksOf(tx, admin) };
  });
  report(context, "an administrator was removed, and their sessions were ended", removed.username);
  return removed;
}

/**
 * Throws `conflict` if the role is not the one from single sign-on: the next login would undo the change, and nobody would
 * notice.
 */
function requireOwnRole({ sso, role, username }: AdminRow, wanted: AdminRole): void {
  if (!sso || wanted === role) return;
  const sentence = `The role of ${username} comes from single sign-on at each login; change it at the provider, or remove them`;
  throw new UamError("conflict", sentence, { reason: "sso.managed" });
}

/**
 * Ends every session of the administrator, and returns how many. Throws `not_found`, and `forbidden` if the caller is no longer an
 * owner.
 */
export async function endAdminSessions(context: Context, who: AdminRef): Promise<number> {
  return await audited(context, entryAbout("admin.end_sessions", who), async (op) => {
    const all = await lockAdmins(op.tx);
    const admin = requireAdmin(all, who);
    op.about({ detail: { username: admin.username } });
    requireStillOwner(context, all);
    const sessions = await endSessionsOf(op.tx, "admin", admin.id);
    op.record({ resourceId: String(admin.id), detail: { sessions } });
    return sessions;
  });
}

/** A reader of the old mailbox must not be able to set the password. */
async function moveAddress(op: Operation, before: AdminRow, after: AdminRow): Promise<void> {
  const { clock, policy, actor } = op.context;
  await op.tx.delete(resetTokens).where(eq(resetTokens.adminId, after.id));
  const change = { username: after.username, at: clock.now(), by: nameForPeople(actor) };
  await queueMail(op, { recipient: before.email, message: adminAddressRemoved(policy.site, change) });
  if (after.passwordHash === null && !after.sso) return await mailInvitation(op, after);
  await queueMail(op, { recipient: after.email, message: adminAddressSet(policy.site, change) });
}

function entryAbout(action: "admin.update" | "admin.remove" | "admin.end_sessions", who: AdminRef): AuditEntry {
  return typeof who === "number" ? { action, resourceId: String(who) } : { action, detail: { username: who } };
}

function report({ log, actor }: Context, message: string, username: string): void {
  log.warn(message, { username, operator: nameForPeople(actor) });
}
