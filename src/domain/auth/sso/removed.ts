/** People who came in by single sign-on and were removed by an owner: the provider's word lets them in again only once an owner agrees. */

import { and, count, desc, eq, isNull } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { offsetOf, type Page, type Paged } from "../../../shared/product/page.ts";
import { type SsoIdentityRow, ssoIdentities } from "../../../store/schema-sso.ts";
import { audited } from "../../operation/audited.ts";
import type { Context } from "../../operation/context.ts";
import { lockAdmins, requireStillOwner } from "../administrators/admin-rows.ts";
import { askingAdmin } from "../administrators/left-behind.ts";
import { lockSingleSignOn } from "./login.ts";

/** Removed people who may not come in again. */
const isRemoved = and(isNull(ssoIdentities.adminId), isNull(ssoIdentities.readmittedBy));

/** Everybody who was removed, newest first. */
export async function listRemoved({ db }: Context): Promise<readonly SsoIdentityRow[]> {
  return await db.select().from(ssoIdentities).where(isRemoved).orderBy(desc(ssoIdentities.id));
}

/** One page of them. */
export async function pageRemoved(context: Context, page: Page): Promise<Paged<SsoIdentityRow>> {
  // One snapshot, so that `total` and `items` agree.
  return await context.db.transaction(
    async (tx) => {
      const [row] = await tx.select({ total: count() }).from(ssoIdentities).where(isRemoved);
      const total = row?.total ?? 0;
      const offset = offsetOf(page);
      // A page far beyond the end has an offset that no database takes.
      if (offset >= total) return { total, items: [] };
      const order = desc(ssoIdentities.id);
      const rows = tx.select().from(ssoIdentities).where(isRemoved).orderBy(order).limit(page.pageSize).offset(offset);
      return { total, items: await rows };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/**
 * Lets them in again: their next login makes them an administrator as any first login does, if their claims still give them a role,
 * and if the owner who readmitted them is still one by then. Throws `not_found`, and `forbidden` if the caller is no longer an
 * owner.
 */
export function readmit(context: Context, id: number): Promise<SsoIdentityRow> {
  return audited(context, { action: "admin.readmit" }, async (op) => {
    await lockSingleSignOn(op.tx);
    requireStillOwner(context, await lockAdmins(op.tx));
    const readmittedBy = askingAdmin(context);
    const isMeant = and(eq(ssoIdentities.id, id), isRemoved);
    const [removed] =
      readmittedBy === null
        ? await op.tx.delete(ssoIdentities).where(isMeant).returning()
        : await op.tx.update(ssoIdentities).set({ readmittedBy }).where(isMeant).returning();
    if (removed === undefined) {
      const sentence = `Nobody with the number ${id} was removed; uam admin removed lists those who were`;
      throw new UamError("not_found", sentence, { reason: "admin.missing" });
    }
    const { username, issuer, subject } = removed;
    op.record({ detail: { username, issuer, subject } });
    return removed;
  });
}
