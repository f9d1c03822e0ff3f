/** The group that new users get: the setting `policy.default_group`, which is a group's number and so outlives its renaming. */

import { eq, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { type HostGroupRow, hostGroups } from "../../store/schema-fleet.ts";
import { settings } from "../../store/schema-service.ts";
import type { Operation } from "../operation/context.ts";

/** Its key among the settings; not a duration, so it is read and changed with the groups. */
export const DEFAULT_GROUP = "policy.default_group";

/** The group that new users get; until one is set, the oldest, which the migration made. */
export async function findDefaultGroup(db: Database | Transaction): Promise<HostGroupRow> {
  const [row] = await db
    .select()
    .from(hostGroups)
    .where(
      eq(
        hostGroups.id,
        sql`coalesce((select value from settings where key = ${DEFAULT_GROUP}), (select min(id) from host_groups))`,
      ),
    )
    .prepare("default_group")
    .execute();
  if (row === undefined) throw new UamError("internal", "The group of hosts that new users get is gone");
  return row;
}

/** Makes the group the default, with a record of its own that commits with the operation; nothing if it is already. */
export async function setDefaultGroup(
  { tx, context, alsoRecord }: Operation,
  group: Pick<HostGroupRow, "id" | "name">,
): Promise<void> {
  const before = await findDefaultGroup(tx);
  if (before.id === group.id) return;
  const stored = { value: group.id, updatedAt: context.clock.now() };
  await tx
    .insert(settings)
    .values({ key: DEFAULT_GROUP, ...stored })
    .onConflictDoUpdate({ target: settings.key, set: stored });
  const detail = { value: group.name, overridden: true, old_value: before.name };
  alsoRecord({ entry: { action: "settings.update", resourceId: DEFAULT_GROUP, detail }, result: "success" });
}
