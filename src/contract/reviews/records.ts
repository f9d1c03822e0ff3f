/** Reviews in answers: the review, each user with the evidence, and the report. */

import * as v from "valibot";
import {
  ACTOR_TYPES,
  REVIEW_ANSWERS,
  REVIEW_STATUSES,
  UNANSWERED_WAYS,
  USER_STATUSES,
} from "../../shared/product/statuses.ts";
import { count, described, id, networks, timestamp } from "../fields.ts";

export const SCOPE =
  "Everybody, or the users of a company (its id), of a group of hosts (its id), or of a sponsor (an address)";

const scope = v.pipe(
  v.union([
    v.literal("all"),
    v.strictObject({ company: id }),
    v.strictObject({ host_group: id }),
    v.strictObject({ sponsor: described("bo@example.org") }),
  ]),
  v.description(SCOPE),
  v.examples(["all"]),
);

export const UNANSWERED = "Whether users who are not answered for by the day are disabled, or only listed";

export const ReviewRecord = v.pipe(
  v.object({
    id,
    scope,
    scope_name: described(
      "Lindqvist AB",
      "The name of the company or group when it began, or the sponsor; empty for everybody",
    ),
    status: v.picklist(REVIEW_STATUSES),
    started_at: timestamp,
    due_at: timestamp,
    closed_at: v.nullable(timestamp),
    unanswered_way: v.pipe(v.picklist(UNANSWERED_WAYS), v.description(UNANSWERED)),
    total: count(12),
    kept: count(7),
    ended: v.pipe(count(1), v.description("Who lost their access: by an answer, or in another way before the day")),
    shortened: count(1),
    unanswered: v.pipe(count(3), v.description("Who is not answered for yet or, of a closed review, was not")),
  }),
  v.title("Review"),
);

const Evidence = v.pipe(
  v.object({
    status: v.picklist(USER_STATUSES),
    ...{ full_name: described("Alice Andersson"), email: described("alice@example.org") },
    ...{ supervisor: described("Bo Lindqvist"), purpose: described("Maintenance of the build servers") },
    company: described("Lindqvist AB", "Empty for none"),
    expire_at: timestamp,
    hosts: v.array(described("web1")),
    groups: v.array(described("web")),
    source_networks: networks("From where; empty: from anywhere"),
    hours: v.optional(
      described(
        "mon-fri 08:00-18:00 Europe/Berlin",
        "The hours of the week; empty: always. Absent in evidence of before there were hours",
      ),
    ),
    profile: v.optional(
      described(
        "drop-box: may copy files to and from /data/acme, nothing else",
        "What they may do, by their profile and those of their groups; empty: not restricted. Absent in evidence of before there were profiles",
      ),
    ),
    keys: v.array(
      v.object({
        name: described("laptop"),
        fingerprint: described("SHA256:l1xBLAhQ4FBpTmtMYmuJEJDRLxOyPrHsI3DcWKnXgiM"),
        created_at: timestamp,
        last_used_at: v.pipe(v.nullable(timestamp), v.description("As sshd's log proves it")),
        last_used_from: described("192.0.2.7", "Empty where none is known"),
      }),
    ),
    last_login_at: v.nullable(timestamp),
    logins: v.pipe(count(4), v.description("Logins with a code since `logins_since`")),
    logins_since: timestamp,
    created_at: timestamp,
    created_by: described("admin", "Empty where the log does not reach"),
    extended_at: v.nullable(timestamp),
    extended_by: described("admin", "Empty for never"),
    extended_because: described("The project goes on", "Empty where no reason was given"),
    drift: v.pipe(v.array(described("web1: the key file was edited")), v.description("What differs on hosts")),
  }),
  v.title("Evidence"),
);

export const ReviewItem = v.pipe(
  v.object({
    user_id: id,
    username: described("alice"),
    answer: v.pipe(
      v.nullable(v.picklist(REVIEW_ANSWERS)),
      v.description(
        "Null: not answered yet. `unanswered`: nobody answered by the day. `gone`: there was no access any more by then",
      ),
    ),
    grace_until: v.pipe(v.nullable(timestamp), v.description("Until when an administrator lets the answer wait")),
    until: v.pipe(v.nullable(timestamp), v.description("The earlier end that was answered")),
    reason: described("The project is over"),
    answered_at: v.nullable(timestamp),
    answered_by_type: v.nullable(v.picklist(ACTOR_TYPES)),
    answered_by: described("admin"),
    answered_from: described("192.0.2.7"),
    asked: v.optional(
      described(
        "bo@example.org",
        "Of an item that is open, but not in reports: the sponsor who is asked by mail; empty: owners and operators are",
      ),
    ),
    record: v.pipe(v.nullable(id), v.description("The id of the audit record of the answer")),
    evidence: v.pipe(
      v.nullable(Evidence),
      v.description("As it is now or, once answered, as it was then; null for a user who was deleted"),
    ),
  }),
  v.title("ReviewItem"),
);

export const ReviewReport = v.pipe(
  v.object({
    review: ReviewRecord,
    closed_at: v.nullable(timestamp),
    unanswered: v.picklist(UNANSWERED_WAYS),
    start_record: v.pipe(id, v.description("The id of the record of the start")),
    close_record: v.pipe(v.nullable(id), v.description("The id of the record of the close")),
    head: described(
      `4711:${"5f".repeat(32)}`,
      "The newest record of the log and its seal, for `uam audit verify --head`: at the close or, of an open review, now",
    ),
    items: v.array(ReviewItem),
  }),
  v.title("ReviewReport"),
);

export const ReviewPreview = v.pipe(
  v.object({
    total: v.pipe(count(12), v.description("How many users it would be about, if it began now")),
    sponsors: v.pipe(count(3), v.description("How many sponsors would be asked by mail")),
    sponsored: v.pipe(count(9), v.description("About how many users; owners and operators are asked about the others")),
  }),
  v.title("ReviewPreview"),
);
