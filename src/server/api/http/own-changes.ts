/** How much external users change by themselves, over all of their sessions. */

import type { Services } from "../../../domain/operation/context.ts";
import { type ChangeLimit, createChangeLimit } from "./change-limit.ts";

/** Changes in a minute; all refusals beyond them make one record for the minute. */
export const MOST_OWN_CHANGES = 60;

/**
 * Counts what external users have changed. Routes that only take away are not counted: each takes something that was given before, so there
 * are no more of them than of what gives.
 */
export function createOwnChanges(services: Pick<Services, "clock" | "log">, most = MOST_OWN_CHANGES): ChangeLimit {
  return createChangeLimit(services, {
    ...{ most, per: "principal", reason: "rate.changes" },
    refusal: "You have changed too much within a minute; keys can be revoked all the same, and the account locked",
    recorded: "Too many changes in a minute",
  });
}
