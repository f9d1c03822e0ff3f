/** The former user of a uid: a stored user, or a deleted one as far back as the audit log goes. */

import { and, desc, eq, inArray, like, sql } from "drizzle-orm";
import type { Database } from "../../store/client.ts";
import { accounts, users } from "../../store/schema.ts";
import { audit } from "../../store/schema-audit.ts";

export interface FormerAccount {
  readonly userId: number;
  readonly username: string;
}

/** Actions that end with an account's removal. */
const DELETIONS = ["user.delete", "lifecycle.recycle"] as const;

/** The user whose account has, or had, the uid; undefined if no record says so. */
export async function formerAccount(db: Database, uid: number): Promise<FormerAccount | undefined> {
  const [stored] = await db
    .select({ userId: users.id, username: users.username })
    .from(accounts)
    .innerJoin(users, eq(users.id, accounts.userId))
    .where(eq(accounts.uid, uid))
    .limit(1);
  if (stored !== undefined) return stored;
  // Uses the index of actions. Quotes in typed text are escaped inside a detail, so typed text cannot match this.
  const deletions = await db
    .select({ userId: audit.subjectId, detail: audit.detail })
    .from(audit)
    .where(
      and(
        inArray(
          sql`hashtextextended(${audit.action}, 0)`,
          DELETIONS.map((action) => sql`hashtextextended(${action}, 0)`),
        ),
        inArray(audit.action, [...DELETIONS]),
        eq(audit.result, "success"),
        like(audit.detail, `%"uid":${uid}%`),
      ),
    )
    .orderBy(desc(audit.id))
    .limit(20);
  return deletions.map((deletion) => parse(deletion, uid)).find((former) => former !== undefined);
}

function parse({ userId, detail }: { readonly userId: number | null; readonly detail: string }, uid: number) {
  const parsed: { readonly uid?: unknown; readonly username?: unknown } = JSON.parse(detail);
  if (userId === null || parsed.uid !== uid || typeof parsed.username !== "string") return undefined;
  return { userId, username: parsed.username };
}
