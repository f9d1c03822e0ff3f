/** Applications for access, in requests and answers. */

import * as v from "valibot";
import { APPROVAL_STATUSES } from "../../../shared/statuses.ts";
import { described, id, newPerson, pageFields, person, text, timestamp, ttlDays } from "../schemas.ts";

export const ApprovalQuery = v.object({ ...pageFields, status: v.optional(v.picklist(APPROVAL_STATUSES)) });

export const NewApplication = v.pipe(v.object(newPerson), v.title("NewApplication"));

export const ApplicationReview = v.pipe(
  v.object({
    approve: v.pipe(v.boolean(), v.examples([true])),
    reason: v.optional(text("Welcome", "At most 1000 characters after trimming; a rejection needs one")),
    create_user: v.optional(v.pipe(v.boolean(), v.description("false approves without creating the user"))),
    ttl_days: ttlDays,
  }),
  v.title("ApplicationReview"),
);

export const ApplicationRecord = v.pipe(
  v.object({
    id,
    ...person,
    status: v.picklist(APPROVAL_STATUSES),
    reason: described("", "Given at the review"),
    reviewed_by: described("", "The administrator; empty while it is pending"),
    reviewed_at: v.nullable(timestamp),
    created_at: timestamp,
  }),
  v.title("Application"),
);
