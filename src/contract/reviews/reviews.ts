/** /reviews: whether the access of each user is still right, and what was answered. */

import * as v from "valibot";
import { MEDIA_TYPES } from "../../shared/product/export-formats.ts";
import { MOST_REVIEW_DAYS } from "../../shared/product/limits.ts";
import {
  ACTOR_TYPES,
  REVIEW_ANSWERS,
  REVIEW_STATUSES,
  UNANSWERED_WAYS,
  USER_STATUSES,
} from "../../shared/product/statuses.ts";
import { MAX_REASON } from "../../shared/text/person.ts";
import {
  count,
  described,
  IdParams,
  id,
  idNumber,
  networks,
  PageQuery,
  pageFields,
  pageIn,
  pageOf,
  text,
  timestamp,
  wholeNumber,
} from "../fields.ts";
import { operators, type Routes } from "../route.ts";

const SCOPE =
  "Everybody, or the users of a company (its id), of a group of hosts (its id), or of a sponsor (an address)";
const UNANSWERED = "Whether users who are not answered for by the day are disabled, or only listed";

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

const newScope = v.pipe(
  v.union([
    v.literal("all"),
    v.strictObject({ company: wholeNumber(1, Number.MAX_SAFE_INTEGER, "The company's id") }),
    v.strictObject({ host_group: wholeNumber(1, Number.MAX_SAFE_INTEGER, "The group's id") }),
    v.strictObject({ sponsor: text("bo@example.org", "The sponsor's address", { maxLength: 254 }) }),
  ]),
  v.description(SCOPE),
  v.examples(["all"]),
);

export const ReviewRecord = v.pipe(
  v.object({
    id,
    scope,
    status: v.picklist(REVIEW_STATUSES),
    started_at: timestamp,
    due_at: timestamp,
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

const ReviewItem = v.pipe(
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
    record: v.pipe(v.nullable(id), v.description("The id of the audit record of the answer")),
    evidence: v.pipe(
      v.nullable(Evidence),
      v.description("As it is now or, once answered, as it was then; null for a user who was deleted"),
    ),
  }),
  v.title("ReviewItem"),
);

const ReviewReport = v.pipe(
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

export const NewReview = v.pipe(
  v.object({
    scope: newScope,
    due_days: v.optional(wholeNumber(1, MOST_REVIEW_DAYS, "Days that there are to answer; 14 if none are given")),
    unanswered: v.optional(v.pipe(v.picklist(UNANSWERED_WAYS), v.description(`${UNANSWERED}; \`disable\` by default`))),
  }),
  v.title("NewReview"),
);

export const ReviewAnswer = v.pipe(
  v.object({
    answer: v.pipe(
      v.picklist(["keep", "end", "shorten", "grace"]),
      v.description("`shorten` and `grace`, which lets the answer wait, need `until`"),
    ),
    reason: v.optional(text("The project is over", "For the record", { maxLength: MAX_REASON })),
    until: v.optional(
      text(
        "2027-01-31T17:00:00Z",
        "An RFC 3339 timestamp: the earlier end of access, or until when the answer may wait, at most 7 days after the review's day",
      ),
    ),
  }),
  v.title("ReviewAnswer"),
);

/** `:id` is the review's, `:user` the user's. */
const ItemParams = v.object({ id: idNumber(), user: idNumber() });

const ItemsQuery = v.pipe(
  v.object({
    ...pageFields,
    answered: v.optional(
      v.pipe(v.picklist(["true", "false"]), v.description("Only those who are answered for, or are not")),
    ),
  }),
  v.transform(pageIn),
);

const ReportQuery = v.object({
  format: v.optional(v.pipe(v.picklist(["csv", "json"]), v.description("Without it, it is CSV"))),
});

const CLOSED = "The review is closed, or the user is answered for";

export const reviews = {
  "GET /reviews": {
    operationId: "listReviews",
    summary: "List reviews",
    description: "Newest first.",
    who: operators,
    query: PageQuery,
    answer: pageOf(ReviewRecord),
  },
  "POST /reviews": {
    operationId: "startReview",
    summary: "Begin a review",
    description:
      "Of everybody in the scope who has access at this moment; who comes later is not in it. On its day, users who are not answered for are disabled, unless `unanswered` says otherwise.",
    who: operators,
    records: "review.start",
    body: NewReview,
    status: 201,
    answer: ReviewRecord,
    refusals: { 409: "Nobody in the scope has access" },
    reasons: ["review.empty", "company.missing", "host_group.missing"],
  },
  "GET /reviews/:id": {
    operationId: "getReview",
    summary: "Read a review",
    who: operators,
    params: IdParams,
    answer: ReviewRecord,
    refusals: { 404: true },
    reasons: ["review.missing"],
  },
  "GET /reviews/:id/items": {
    operationId: "listReviewItems",
    summary: "List the users that a review is about",
    description: "By their ids, with the evidence and the answer.",
    who: operators,
    params: IdParams,
    query: ItemsQuery,
    answer: pageOf(ReviewItem),
    refusals: { 404: true },
    reasons: ["review.missing"],
  },
  "POST /reviews/:id/items/:user": {
    operationId: "answerReviewItem",
    summary: "Answer for a user in a review",
    description:
      "`keep`: the access is right. `end`: it ends now. `shorten`: it ends at `until`. `grace`: the answer may wait until `until`. Once answered, an answer stays.",
    who: operators,
    params: ItemParams,
    body: ReviewAnswer,
    records: "review.answer",
    answer: ReviewItem,
    refusals: {
      403: "The user has the caller's own address",
      404: true,
      409: CLOSED,
      500: "The answer is stored, and something is left to do on the host, or the service failed. The sentence says which",
    },
    reasons: [
      ...(["review.missing", "review.answered", "review.closed", "review.self", "user.missing"] as const),
      ...(["access.owed", "user.shortening"] as const),
    ],
  },
  "POST /reviews/:id/close": {
    operationId: "closeReview",
    summary: "Close a review",
    description:
      "It closes by itself once everybody is answered for. Before that, say what is to happen to the others: `disable` them, or only `report`. The answer waits a few seconds; the service goes on, also after a crash, and `status` says whether it is closed.",
    who: operators,
    params: IdParams,
    body: v.pipe(v.object({ unanswered: v.optional(v.picklist(UNANSWERED_WAYS)) }), v.title("ReviewClose")),
    bodyAs: "optional",
    records: "review.close",
    answer: ReviewRecord,
    refusals: { 404: true, 409: "Not everybody is answered for, or the review is closed" },
    reasons: ["review.missing", "review.open", "review.closed"],
  },
  "GET /reviews/:id/report": {
    operationId: "reportReview",
    summary: "Get a review as a file",
    description:
      "Each user with the evidence as it was when answered, who answered, when, from where and why; the ids of the records, and the log's head. `uam review verify` checks the file against the log. In CSV an apostrophe goes before text that a spreadsheet would take for a formula.",
    who: operators,
    params: IdParams,
    query: ReportQuery,
    answer: ReviewReport,
    alsoAs: [MEDIA_TYPES.csv],
    refusals: { 404: true },
    reasons: ["review.missing"],
  },
} as const satisfies Routes;
