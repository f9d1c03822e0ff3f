/** /reviews: whether the access of each user is still right, and what was answered. */

import * as v from "valibot";
import { MEDIA_TYPES } from "../../shared/product/export-formats.ts";
import { MOST_REVIEW_DAYS } from "../../shared/product/limits.ts";
import { UNANSWERED_WAYS } from "../../shared/product/statuses.ts";
import { MAX_REASON } from "../../shared/text/person.ts";
import { IdParams, id, idNumber, listOf, PageQuery, pageFields, pageIn, pageOf, text, wholeNumber } from "../fields.ts";
import { operators, type Routes } from "../route.ts";
import { ReviewItem, ReviewPreview, ReviewRecord, ReviewReport, SCOPE, UNANSWERED } from "./records.ts";

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

/** Users in one request. */
const MOST_ANSWERS = 1000;

export const ReviewAnswers = v.pipe(
  v.object({ users: listOf(id, MOST_ANSWERS, "The ids of users of the review"), ...ReviewAnswer.entries }),
  v.title("ReviewAnswers"),
);

/** The scope, as a query has it. */
const PreviewQuery = v.object({
  company: v.optional(idNumber("The company's id")),
  host_group: v.optional(idNumber("The group's id")),
  sponsor: v.optional(text("bo@example.org", "The sponsor's address", { maxLength: 254 })),
});

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
  "GET /reviews/preview": {
    operationId: "previewReview",
    summary: "See whom a review would ask about",
    description: "Of everybody, or of one `company`, `host_group` or `sponsor`. Begins nothing.",
    who: operators,
    query: PreviewQuery,
    answer: ReviewPreview,
    reasons: ["company.missing", "host_group.missing"],
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
      "access.owed",
    ],
  },
  "POST /reviews/:id/items": {
    operationId: "answerReviewItems",
    summary: "Answer for several users in a review",
    description:
      "One answer for all of them, with a reason, stored for all or for none. What it takes away is taken away one by one: the answer waits a few seconds, and the service goes on, also after a crash.",
    who: operators,
    params: IdParams,
    body: ReviewAnswers,
    records: "review.answer",
    answer: ReviewRecord,
    refusals: {
      403: "A user has the caller's own address",
      404: true,
      409: CLOSED,
      500: "The service failed, or an answer for only one user is stored and something is left to do on the host",
    },
    reasons: [
      ...(["review.missing", "review.answered", "review.closed", "review.self", "user.missing"] as const),
      "access.owed",
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
      "Each user with the evidence as it was when answered, who answered, when, from where and why; the ids of the records, and the log's head. `uam review verify` checks the file against the log. CSV has each fact in a column of its own; the last one, `evidence`, repeats them as JSON, as they are sealed. In CSV an apostrophe goes before text that a spreadsheet would take for a formula.",
    who: operators,
    params: IdParams,
    query: ReportQuery,
    answer: ReviewReport,
    alsoAs: [MEDIA_TYPES.csv],
    refusals: { 404: true },
    reasons: ["review.missing"],
  },
} as const satisfies Routes;
