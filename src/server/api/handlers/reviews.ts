/** /reviews: whether the access of each user is still right. */

import type { BodyOf } from "../../../contract/contract.ts";
import type { reviews } from "../../../contract/reviews/reviews.ts";
import { answerItems } from "../../../domain/reviews/answer.ts";
import { closeReview } from "../../../domain/reviews/close.ts";
import { getItem, listItems } from "../../../domain/reviews/items.ts";
import { reportReview } from "../../../domain/reviews/report.ts";
import { getReview, listReviews } from "../../../domain/reviews/reviews.ts";
import { DUE_DAYS, type Scope, startReview } from "../../../domain/reviews/start.ts";
import { clampTimestamp, parseTimestamp } from "../../../shared/time/timestamp.ts";
import { reportCsv, reportRecord, reviewItemRecord, reviewRecord } from "../../review-records.ts";
import type { Handlers } from "../http/call.ts";
import { csvFile } from "./answer-file.ts";

export const reviewHandlers: Handlers<typeof reviews> = {
  "GET /reviews": async ({ context, query }) => {
    const { total, items } = await listReviews(context, query.page);
    return { total, items: items.map(reviewRecord) };
  },

  "POST /reviews": async ({ context, body }) => {
    const { due_days: dueDays = DUE_DAYS, unanswered = "disable" } = body;
    return reviewRecord(await startReview(context, { scope: scopeOf(body.scope), dueDays, unanswered }));
  },

  "GET /reviews/:id": async ({ context, params }) => reviewRecord(await getReview(context, params.id)),

  "GET /reviews/:id/items": async ({ context, params, query: { page, answered } }) => {
    const which = answered === undefined ? undefined : answered === "true";
    const { total, items } = await listItems(context, params.id, { answered: which, page });
    return { total, items: items.map(reviewItemRecord) };
  },

  "POST /reviews/:id/items/:user": async ({ context, params, body: { answer, reason, until } }) => {
    const given = until === undefined ? undefined : clampTimestamp(parseTimestamp(until, "until"));
    await answerItems(context, params.id, [{ userId: params.user, answer, reason, until: given }]);
    return reviewItemRecord(await getItem(context, params.id, params.user));
  },

  "POST /reviews/:id/close": async ({ context, params, body }) =>
    reviewRecord(await closeReview(context, params.id, body.unanswered, context.policy.fleetWait)),

  "GET /reviews/:id/report": async ({ context, request, params, query }) => {
    const report = await reportReview(context, params.id);
    if (query.format === "json") return reportRecord(report);
    return csvFile(request, `review-${params.id}`, reportCsv(report));
  },
};

function scopeOf(scope: BodyOf<"POST /reviews">["scope"]): Scope {
  if (scope === "all") return scope;
  return "host_group" in scope ? { hostGroup: scope.host_group } : scope;
}
