/** The bodies of requests that disable, enable or extend a user. */

import * as v from "valibot";
import { MAX_DAYS } from "../../shared/time/duration.ts";
import { givenReason, wholeNumber } from "../fields.ts";
import { givenMoment } from "./hours.ts";

/** The user's `updated_at`, by which a caller undoes what they have just done, and nothing else. */
const unchangedSince = v.optional(
  givenMoment(
    "2026-11-20T08:00:00.000Z",
    "An `updated_at`: refused with 409, `user.changed`, if the user was changed since. To undo a change, send that of its answer",
  ),
);

export const Extension = v.pipe(
  v.object({
    days: v.optional(
      wholeNumber(
        0,
        MAX_DAYS,
        "Counted from the later of now and the expiry; 0, or neither this nor `until`, means the default",
      ),
    ),
    until: v.optional(
      givenMoment(
        "2027-01-31T17:00:00Z",
        "Instead of `days`: when access ends from now on, RFC 3339; may be earlier than the present end",
      ),
    ),
    reason: givenReason,
    unchanged_since: unchangedSince,
  }),
  v.forward(
    v.check(({ days, until }) => days === undefined || until === undefined, "cannot be given together with days"),
    ["until"],
  ),
  v.title("Extension"),
);

export const Reason = v.pipe(v.object({ reason: givenReason, unchanged_since: unchangedSince }), v.title("Reason"));
