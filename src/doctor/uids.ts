/** Whether uids of accounts can become somebody else's. */

import { rangeFault, readReservedIds } from "../host/reserved-ids.ts";
import type { UidRange } from "../shared/uids.ts";
import { areaOf, type Finding } from "./finding.ts";

const REMEDY = "set UAM_UID_RANGE to what is free: accounts keep the uids they have, and new ones get others";

/** A fault if the host gives numbers of the range to others, too. */
export function checkUidRange(range: UidRange): readonly Finding[] {
  const fault = rangeFault(range, readReservedIds());
  return fault === undefined ? [] : [areaOf("uids").fault(fault, REMEDY)];
}
