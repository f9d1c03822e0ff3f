/** How near the end of access is. */

import { DAY } from "../../../ui/clock.ts";
import type { OwnAccount } from "../own-account.ts";

/** Ends within this time are marked. */
const SOON = 7 * DAY;

/** By the end that the service names; what was disabled or has expired is over. */
export function urgencyOf({ ends }: Pick<OwnAccount, "ends">, present: number): "far" | "soon" | "over" {
  if (ends.reason !== "expiry") return "over";
  const left = Date.parse(ends.at) - present;
  return left <= 0 ? "over" : left < SOON ? "soon" : "far";
}
