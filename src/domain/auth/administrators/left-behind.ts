/**
 * Takes back everything an administrator made that lets somebody in, when they or the role that allowed it are removed.
 */

import { and, asc, eq, inArray, isNull } from "drizzle-orm";
import { includesRole } from "../../../shared/product/role-order.ts";
import type { AdminRole } from "../../../shared/product/statuses.ts";
import type { Transaction } from "../../../store/client.ts";
import { type AdminRow, admins } from "../../../store/schema-auth.ts";
import { webhooks } from "../../../store/schema-events.ts";
import { ssoIdentities } from "../../../store/schema-sso.ts";
import type { Context, Operation } from "../../operation/context.ts";
import { voidJoinLines } from "../tokens/join-lines.ts";
import { revokeTokensOf } from "../tokens/tokens.ts";

/** The administrator who asks, also by a token; null for other callers, such as the host's operator. */
export function askingAdmin({ permit }: Pick<Context, "permit">): number | null {
  return permit?.userType === "admin" ? permit.principalId : null;
}

/**
 * Takes back everything the administrator made above the new role; without a role, everything. Revokes tokens, on record. Voids open
 * tokens for joining, open invitations, and unused leave to come in again, which only owners give. Webhooks let nobody in: they stay
 * active, so that receivers miss nothing, and the record names them. Call it under `lockAdmins`, so that nothing is being made meanwhile.
 */
export async function takeBackWhatLetsIn(
  op: Operation,
  admin: Pick<AdminRow, "id" | "username">,
  role?: AdminRole,
): Promise<void> {
  const isAbove = (own: AdminRole) => role === undefined || (own !== role && includesRole(own, role));
  if (isAbove("owner")) await voidJoinLines(op, admin.id);
  await revokeTokensOf(op, admin, isAbove);
  if (!isAbove("owner")) return;
  await removeInvited(op, admin);
  const readmitted = await op.tx
    .update(ssoIdentities)
    .set({ readmittedBy: null })
    .where(eq(ssoIdentities.readmittedBy, admin.id))
    .returning({ username: ssoIdentities.username });
  if (readmitted.length > 0) op.record({ detail: { readmissions: readmitted.map((one) => one.username).join(", ") } });
  const made = await webhooksOf(op.tx, admin);
  if (made.length > 0) op.record({ detail: { webhooks: made.join(", ") } });
}

/** The webhooks that the administrator made, each by its number and destination. */
export async function webhooksOf(tx: Transaction, { id }: Pick<AdminRow, "id">): Promise<readonly string[]> {
  const rows = await tx.select().from(webhooks).where(eq(webhooks.madeById, id)).orderBy(asc(webhooks.id));
  return rows.map((webhook) => `${webhook.id} (${new URL(webhook.url).origin})`);
}

/**
 * Removes invited administrators who have set no password: voiding the link alone would not do, because they can ask
 * for another.
 */
async function removeInvited(op: Operation, { id, username }: Pick<AdminRow, "id" | "username">): Promise<void> {
  const isOpen = and(eq(admins.invitedBy, id), isNull(admins.passwordHash), eq(admins.sso, false));
  const invited = await op.tx.select().from(admins).where(isOpen);
  if (invited.length === 0) return;
  const ids = invited.map((guest) => guest.id);
  await op.tx.delete(admins).where(inArray(admins.id, ids));
  for (const guest of invited) {
    const detail = { username: guest.username, email: guest.email, role: guest.role, invited_by: username };
    const entry = { action: "admin.remove", resourceId: String(guest.id), detail } as const;
    op.alsoRecord({ entry, result: "success" });
  }
  op.record({ detail: { invitations: invited.map((guest) => guest.username).join(", ") } });
}
