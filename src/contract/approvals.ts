/** Applications for access and requests for more time, in requests and answers. */

import * as v from "valibot";
import { MAX_DAYS } from "../shared/duration.ts";
import { MAX_REQUESTED_DAYS } from "../shared/limits.ts";
import { MAX_PURPOSE } from "../shared/person.ts";
import { APPROVAL_KINDS, APPROVAL_STATUSES } from "../shared/statuses.ts";
import { described, id, newPerson, pageFields, person, text, timestamp, wholeNumber } from "./fields.ts";

export const ApprovalQuery = v.object({
  ...pageFields,
  status: v.optional(v.picklist(APPROVAL_STATUSES)),
  kind: v.optional(v.picklist(APPROVAL_KINDS)),
});

export const NewApplication = v.pipe(v.object(newPerson), v.title("NewApplication"));

export const ExtensionRequest = v.pipe(
  v.object({
    days: wholeNumber(1, MAX_REQUESTED_DAYS, "How many days more"),
    reason: text("The tests take longer than planned", "What for, for the reviewer", {
      minLength: 1,
      maxLength: MAX_PURPOSE,
    }),
  }),
  v.title("ExtensionRequest"),
);

export const ApplicationReview = v.pipe(
  v.object({
    approve: v.pipe(v.boolean(), v.examples([true])),
    reason: v.optional(text("Welcome", "At most 1000 characters after trimming; a rejection needs one")),
    create_user: v.optional(
      v.pipe(v.boolean(), v.description("false approves without creating the user; not for a request for more time")),
    ),
    ttl_days: v.optional(
      wholeNumber(
        0,
        MAX_DAYS,
        "Days until expiry, or by which the account is extended; 0, or none, means the default, or the days asked for",
      ),
    ),
  }),
  v.title("ApplicationReview"),
);

export const ApplicationRecord = v.pipe(
  v.object({
    id,
    kind: v.pipe(v.picklist(APPROVAL_KINDS), v.description("`extension`: a user asks for more time")),
    user_id: v.nullable(v.pipe(v.number(), v.integer(), v.description("Who asks for more time; else null"))),
    days: v.nullable(v.pipe(v.number(), v.integer(), v.description("How many days more they ask for; else null"))),
    ...person,
    purpose: described("Maintenance of the build servers", "What for; of a request for more time, why"),
    status: v.picklist(APPROVAL_STATUSES),
    reason: described("", "Given at the review"),
    reviewed_by: described("", "The administrator; empty while it is pending"),
    reviewed_at: v.nullable(timestamp),
    created_at: timestamp,
  }),
  v.title("Application"),
);
