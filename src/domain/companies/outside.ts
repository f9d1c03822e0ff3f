/** Users of a company who do not lie within limits that it is about to have. */

import { asc, eq, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { allowedBy, isWithin } from "../../shared/net/networks.ts";
import { counted, namedUpTo } from "../../shared/text/counted.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { users } from "../../store/schema.ts";
import type { CompanyRow } from "../../store/schema-companies.ts";
import { latestEndOf } from "../accounts/company-limits.ts";
import type { CompanyFields } from "./company-fields.ts";

/** Limits that change, of a company. */
export interface Narrowing {
  readonly company: CompanyRow;
  readonly changes: CompanyFields;
  readonly now: Date;
}

/** How many users a sentence names. */
const MOST_NAMED = 10;

/** Throws `conflict`, naming them, if users of the company would not lie within it any more. */
export async function requireNobodyOutside(tx: Transaction, narrowing: Narrowing): Promise<void> {
  const names = await findOutside(tx, narrowing);
  if (names.length === 0) return;
  const some = namedUpTo(MOST_NAMED, names);
  const sentence = `${counted(names.length, "user")} of ${narrowing.company.name} would lie outside: ${some}; change them first`;
  throw new UamError("conflict", sentence, { reason: "company.limit" });
}

/** Their names, in the order in which they were created. Only limits that change count. */
export async function findOutside(
  db: Database | Transaction,
  { company, changes, now }: Narrowing,
): Promise<readonly string[]> {
  const { contractEnd = null, maxTtlDays = null, sourceNetworks = [], hostGroups = [] } = changes;
  const latest = latestEndOf({ contractEnd, maxTtlDays }, now);
  if (latest === undefined && sourceNetworks.length + hostGroups.length === 0) return [];
  const ids = sql`${`{${hostGroups.join(",")}}`}::bigint[]`;
  const rows = await db
    .select({
      username: users.username,
      expireAt: users.expireAt,
      networks: users.sourceNetworks,
      hasOthers: sql<boolean>`exists (select 1 from grants g where g.user_id = ${users.id}
        and (g.group_id is null or g.group_id <> all(${ids})))`,
    })
    .from(users)
    .where(eq(users.companyId, company.id))
    .orderBy(asc(users.id));
  const outside = rows.filter(
    ({ expireAt, networks, hasOthers }) =>
      (latest !== undefined && expireAt > latest) ||
      !isWithin(allowedBy(networks), allowedBy(sourceNetworks)) ||
      (hostGroups.length > 0 && hasOthers),
  );
  return outside.map(({ username }) => username);
}
