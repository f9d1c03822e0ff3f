/** Pages of external users. */

import { and, asc, count, desc, eq, inArray } from "drizzle-orm";
import { offsetOf, type Page, type Paged } from "../../shared/page.ts";
import { type UserRow, users } from "../../store/schema.ts";
import type { Context } from "../operation/context.ts";
import { hasStatusAt } from "./find.ts";

export interface UserFilter {
  readonly status?: UserRow["status"] | undefined;
  readonly supervisor?: string | undefined;
}

/** One page of users, newest first. */
export async function listUsers(context: Context, filter: UserFilter, page: Page): Promise<Paged<UserRow>> {
  const where = and(
    filter.status === undefined ? undefined : hasStatusAt(filter.status, context.clock.now()),
    filter.supervisor === undefined ? undefined : eq(users.supervisor, filter.supervisor),
  );
  // One snapshot, so that `total` and `items` agree.
  return await context.db.transaction(
    async (tx) => {
      const [row] = await tx.select({ total: count() }).from(users).where(where).prepare("count_users").execute();
      const total = row?.total ?? 0;
      const offset = offsetOf(page);
      const size = Math.min(page.pageSize, total - offset);
      if (size <= 0) return { total, items: [] };
      // A page in the older half is counted from the oldest: the last page then costs as much as the first.
      const reversed = offset > total / 2;
      const order = reversed ? asc(users.id) : desc(users.id);
      const ids = tx
        .select({ id: users.id })
        .from(users)
        .where(where)
        .orderBy(order)
        .limit(size)
        .offset(reversed ? total - offset - size : offset);
      const items = await tx
        .select()
        .from(users)
        .where(inArray(users.id, ids))
        .orderBy(desc(users.id))
        .prepare("list_users")
        .execute();
      return { total, items };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}
