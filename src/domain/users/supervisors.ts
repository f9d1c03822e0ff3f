/** The supervisors that users have, for whoever looks for one of them. */

import { and, count, desc, ne, sql } from "drizzle-orm";
import { MAX_SEARCH } from "../../shared/product/limits.ts";
import { parseText } from "../../shared/text/text.ts";
import { users } from "../../store/schema.ts";
import type { Context } from "../operation/context.ts";

export interface Supervisor {
  readonly supervisor: string;
  /** How many users have exactly this one. */
  readonly users: number;
}

/** How many are named: more are no help to somebody who chooses one. */
const MOST = 50;

/** Those whose name has the text as a part, in any case; whoever has most users comes first. Throws `invalid` as a search does. */
export async function listSupervisors({ db }: Context, search = ""): Promise<readonly Supervisor[]> {
  const part = parseText("search", search, MAX_SEARCH);
  return await db
    .select({ supervisor: users.supervisor, users: count() })
    .from(users)
    .where(and(ne(users.supervisor, ""), sql`strpos(lower(${users.supervisor}), lower(${part}::text)) > 0`))
    .groupBy(users.supervisor)
    .orderBy(desc(count()), users.supervisor)
    .limit(MOST)
    .prepare("list_supervisors")
    .execute();
}
