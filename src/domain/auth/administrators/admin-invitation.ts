/** Administrators who are invited over the API: a link by mail sets their first password, so that nobody else ever knows it. */

import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import type { AdminRole } from "../../../shared/product/statuses.ts";
import { DAY, shift } from "../../../shared/time/clock.ts";
import { type AdminRow, admins, resetTokens } from "../../../store/schema-auth.ts";
import { parseEmail } from "../../accounts/username.ts";
import { adminInvited } from "../../mail/admin-messages.ts";
import { queueMail } from "../../mail/outbox.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Operation } from "../../operation/context.ts";
import { nameForPeople } from "../../operation/entry.ts";
import { hashToken } from "../sessions/sessions.ts";
import { checkAdminName, insertAdmin } from "./add-admin.ts";
import { type AdminEntry, entryOf, lockAdmins, requireStillOwner } from "./admin-rows.ts";
import { askingAdmin } from "./left-behind.ts";

/** How long an invitation is valid: longer than a reset token, because nobody waits in front of the mailbox for it. */
export const INVITATION_TTL = 3 * DAY;

export interface NewAdmin {
  readonly username: string;
  readonly email: string;
  readonly role: AdminRole;
}

/**
 * Adds an administrator without a password and mails the link that sets it; until then nobody can log in by that name. Throws
 * `invalid`, `conflict` if the name is taken, and `forbidden` if the caller is no longer an owner.
 */
export function inviteAdmin(context: Context, { username, email: typedEmail, role }: NewAdmin): Promise<AdminEntry> {
  const entry = { action: "admin.create", detail: { username, email: typedEmail, role } } as const;
  return audited(context, entry, async (op) => {
    checkAdminName(username);
    const email = parseEmail(typedEmail);
    requireStillOwner(context, await lockAdmins(op.tx));
    const now = context.clock.now();
    const admin = await insertAdmin(op.tx, { username, email, role, createdAt: now, updatedAt: now });
    await mailInvitation(op, admin);
    op.record({ resourceId: String(admin.id), detail: { email } });
    return entryOf(admin);
  });
}

/** Mails the administrator a link that sets the password, and voids an earlier one. The invitation belongs to the caller. */
export async function mailInvitation(op: Operation, { id, username, email, role }: AdminRow): Promise<void> {
  const { clock, policy, actor } = op.context;
  const token = randomBytes(32).toString("base64url");
  const expiresAt = shift(clock.now(), INVITATION_TTL);
  const stored = { tokenHash: hashToken(token), expiresAt };
  await op.tx
    .update(admins)
    .set({ invitedBy: askingAdmin(op.context) })
    .where(eq(admins.id, id));
  await op.tx
    .insert(resetTokens)
    .values({ adminId: id, ...stored })
    .onConflictDoUpdate({ target: resetTokens.adminId, set: stored });
  const message = adminInvited(policy.site, { username, role, token, ttl: INVITATION_TTL, by: nameForPeople(actor) });
  await queueMail(op, { recipient: email, message, expiresAt });
}
