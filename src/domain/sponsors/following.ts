/** Requests for access wait for whoever decides now: users and companies get other sponsors, and rules change. */

import { and, asc, eq, inArray, ne } from "drizzle-orm";
import { approvals, users } from "../../store/schema.ts";
import { companies } from "../../store/schema-companies.ts";
import { accessRequested } from "../mail/access-messages.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import type { Services } from "../operation/context.ts";
import { UNASKED } from "./asking.ts";
import { sponsorOf } from "./sponsor-email.ts";

/**
 * Gives each pending request for access of a former sponsor to whoever is the user's sponsor now, who is then asked as for a new one; without
 * a sponsor, or by another rule, the administrators decide, and are told. Run it each minute.
 */
export async function followSponsors({ db, clock, policy }: Services): Promise<void> {
  await db.transaction(async (tx) => {
    const isSponsors = and(
      eq(approvals.kind, "access_request"),
      eq(approvals.status, "pending"),
      ne(approvals.sponsorEmail, ""),
      inArray(users.requestRule, ["sponsor", "review"]),
    );
    const waiting = await tx
      .select({ request: approvals, user: users, company: companies })
      .from(approvals)
      .innerJoin(users, eq(users.id, approvals.userId))
      .leftJoin(companies, eq(companies.id, users.companyId))
      .where(isSponsors)
      .orderBy(asc(approvals.id));
    for (const { request, user, company } of waiting) {
      const isAsked = user.requestRule === "sponsor" && policy.sponsor.mode !== "off";
      const sponsorEmail = isAsked ? sponsorOf(user, company ?? undefined) : "";
      if (sponsorEmail === request.sponsorEmail) continue;
      // Decided meanwhile, it stays as it was decided.
      const isAsRead = and(
        eq(approvals.id, request.id),
        eq(approvals.status, "pending"),
        eq(approvals.sponsorEmail, request.sponsorEmail),
      );
      const moved = await tx
        .update(approvals)
        .set({ sponsorEmail, ...UNASKED })
        .where(isAsRead)
        .returning();
      if (sponsorEmail !== "") continue;
      for (const row of moved) {
        const told = { about: "applications", occasion: `applications:${row.id}:moved` } as const;
        await tellAdministrators({ tx, context: { clock } }, accessRequested(policy.site, row), told);
      }
    }
  });
}
