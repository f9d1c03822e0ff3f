/** By whom and why a user was disabled, as the audit log has it. */

import { and, desc, eq, inArray } from "drizzle-orm";
import type { AuditAction } from "../../shared/product/audit-actions.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { audit } from "../../store/schema-audit.ts";

/** The record of the change by which the user was disabled. */
export type Disabling = Pick<typeof audit.$inferSelect, "action" | "actorType" | "actor" | "detail">;

/** After which a user may be disabled. */
const DISABLING: readonly AuditAction[] = [
  ...([
    "user.disable",
    "user.lock",
    "sponsor.end",
    "key.revoke",
    "reconcile.repair",
    "user.delete",
    "user.update",
  ] as const),
];

/** The newest that can have disabled them: what merely repaired or revoked was recorded without saying so, and comes before. */
export async function findDisabling(db: Database | Transaction, userId: number): Promise<Disabling | undefined> {
  const about = and(eq(audit.subjectId, userId), inArray(audit.action, [...DISABLING]));
  const rows = await db
    .select({
      ...{ action: audit.action, actorType: audit.actorType, actor: audit.actor, detail: audit.detail },
      result: audit.result,
    })
    .from(audit)
    .where(about)
    .orderBy(desc(audit.id))
    .limit(50);
  return rows.find(({ action, detail, result }) => {
    const status = statusIn(detail);
    if (action !== "user.disable" && action !== "user.lock" && action !== "sponsor.end") return status === "disabled";
    // One that failed on the host took access away all the same, and says so; one that was refused changed nothing.
    return result === "success" || status !== undefined;
  });
}

function statusIn(detail: string): unknown {
  return (JSON.parse(detail) as { readonly status?: unknown }).status;
}

/** By whom, as the end of a sentence; "" where that is not known. */
export function byWhom(disabling: Disabling | undefined): string {
  if (disabling === undefined) return "";
  const { action, actorType, actor } = disabling;
  if (action === "user.lock") return ', by themselves, with "This was not me"';
  if (actorType === "system")
    return action === "reconcile.repair" ? ", by the service: a key kept coming back" : ", by the service";
  if (action === "sponsor.end") return `, by their sponsor ${actor}`;
  const how = action === "key.revoke" ? ", as a key could not be taken out of the file" : "";
  return `, by ${actor}${how}`;
}

/** Why, in the words of whoever disabled them; "" where they gave none. */
export function whyOf(disabling: Disabling | undefined): string {
  if (disabling?.action !== "user.disable" && disabling?.action !== "sponsor.end") return "";
  const { reason } = JSON.parse(disabling.detail) as { readonly reason?: unknown };
  return typeof reason === "string" ? reason : "";
}
