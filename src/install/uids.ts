/** The uids of accounts, as far as an installation has to care. */

import { readAccounts } from "../host/account.ts";
import { type ReservedIds, rangeFault, readReservedIds } from "../host/reserved-ids.ts";
import { MARKER_GROUP } from "../host/settings.ts";
import { UamError } from "../shared/errors.ts";
import { isWithin, OLD_UIDS, type UidRange } from "../shared/system/uids.ts";

/**
 * Throws `invalid` for a first installation with a range that others get numbers of. An installation that goes on keeps its range: then
 * a sentence says what follows from it, if anything does.
 */
export function checkRange(
  range: UidRange,
  { isFirst, reserved = readReservedIds() }: { readonly isFirst: boolean; readonly reserved?: readonly ReservedIds[] },
): string | undefined {
  const fault = rangeFault(range, reserved);
  if (fault !== undefined && isFirst) throw new UamError("invalid", fault);
  return (
    fault && `${fault}. Set UAM_UID_RANGE to what is free: accounts keep the uids they have, and new ones get others`
  );
}

/** Whether accounts on this host have uids that an older version gave by default. */
export function hasOldAccounts(range: UidRange): boolean {
  const { groups, passwd } = readAccounts();
  const uids = [...(groups.get(MARKER_GROUP)?.members ?? [])].map((name) => passwd.get(name)?.uid ?? 0);
  return uids.some((uid) => isWithin(uid, OLD_UIDS) && !isWithin(uid, range));
}
