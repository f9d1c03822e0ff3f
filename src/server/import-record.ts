/** What the API and the command line show of an import. */

import type { Checked, Faults } from "../domain/users/import/check.ts";
import type { Imported } from "../domain/users/import/import-users.ts";
import { MAX_IMPORT_FAULTS } from "../shared/product/limits.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";

/** What would be imported. */
export function importPreviewRecord({ users, ignored, good, faults }: Checked) {
  const items = good.slice(0, MAX_IMPORT_FAULTS).map(({ line, user: { username, email, expireAt } }) => ({
    ...{ line, username, email },
    expire_at: formatTimestamp(expireAt),
  }));
  return {
    preview: true as const,
    users,
    ignored: [...ignored],
    good: good.length,
    items,
    faults: faultsRecord(faults),
  };
}

/** What was imported. */
export function importRecord({ users, ignored, created, faults }: Imported) {
  const items = created.map(({ id, username, expireAt }) => ({ id, username, expire_at: formatTimestamp(expireAt) }));
  return { users, ignored: [...ignored], created: created.length, items, faults: faultsRecord(faults) };
}

function faultsRecord({ items, ...counts }: Faults) {
  return { ...counts, items: items.map((fault) => ({ ...fault })) };
}
