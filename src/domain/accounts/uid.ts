/** User ids for accounts: from a counter that only rises, so that nobody inherits another's files, jobs or processes. */

import { sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { Context } from "../operation/context.ts";

/**
 * A uid that no account was ever given by this service and none on the host has. Committed on its own before it is used:
 * a create that fails or crashes uses its uid up. Throws `internal` when the configured range is used up.
 */
export async function allocateUid({ side, host, policy }: Context): Promise<number> {
  for (;;) {
    const [row] = await side.execute<{ value: string }>(sql`
      insert into counters (name, value) values ('uid', ${policy.uidRange.first})
      on conflict (name) do update set value = greatest(counters.value + 1, excluded.value)
      returning value`);
    const uid = Number(row?.value);
    if (uid > policy.uidRange.last) {
      throw new UamError(
        "internal",
        `UAM_UID_RANGE (${policy.uidRange.first}-${policy.uidRange.last}) is used up; extend it`,
      );
    }
    if (!(await host.uidTaken(uid))) return uid;
  }
}
