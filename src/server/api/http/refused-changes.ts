/** How often the changes of one session or token are refused. */

import type { Services } from "../../../domain/operation/context.ts";
import { type ChangeLimit, createChangeLimit } from "./change-limit.ts";

/** Refusals in a minute; all refusals beyond them make one record for the minute. */
export const MOST_REFUSED = 60;

/** Counts what is refused. */
export function createRefusedChanges(services: Pick<Services, "clock" | "log">, most = MOST_REFUSED): ChangeLimit {
  return createChangeLimit(services, {
    ...{ most, per: "session", reason: "rate.refused" },
    refusal: "Too many refused changes by this session",
    recorded: "Too many changes were refused in a minute",
  });
}
