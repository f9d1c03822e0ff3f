/** /reviews: whether the access of each user is still right. */

import type { BodyOf } from "../../../contract/contract.ts";
import type { reviews } from "../../../contract/reviews/reviews.ts";
import { answerItems } from "../../../domain/reviews/answer.ts";
import { closeReview } from "../../../domain/reviews/close.ts";
import { getItem, listItems } from "../../../domain/reviews/items.ts";
import { reportReview } from "../../../domain/reviews/report.ts";
import { getReview, listReviews } from "../../../domain/reviews/reviews.ts";
import { DUE_DAYS, previewReview, type Scope, startReview } from "../../../domain/reviews/start.ts";
import { UamError } from "../../../shared/errors.ts";
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

  "GET /reviews/preview": async ({ context, query }) => await previewReview(context, scopeIn(query)),

  "GET /reviews/:id": async ({ context, params }) => reviewRecord(await getReview(context, params.id)),

  "GET /reviews/:id/items": async ({ context, params, query: { page, answered } }) => {
    const which = answered === undefined ? undefined : answered === "true";
    const { total, items } = await listItems(context, params.id, { answered: which, page });
    return { total, items: items.map(reviewItemRecord) };
  },

  "POST /reviews/:id/items": async ({ context, params, body: { users, ...given } }) => {
    const answers = users.map((userId) => ({ userId, ...answerIn(given) }));
    await answerItems(context, params.id, answers, context.policy.fleetWait);
    return reviewRecord(await getReview(context, params.id));
  },

  "POST /reviews/:id/items/:user": async ({ context, params, body }) => {
    await answerItems(context, params.id, [{ userId: params.user, ...answerIn(body) }]);
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

function answerIn({ answer, reason, until }: BodyOf<"POST /reviews/:id/items/:user">) {
  return { answer, reason, until: until === undefined ? undefined : clampTimestamp(parseTimestamp(until, "until")) };
}

/** Throws `invalid` for more than one. */
function scopeIn({
  company,
  host_group: hostGroup,
  sponsor,
}: {
  readonly company?: number | undefined;
  readonly host_group?: number | undefined;
  readonly sponsor?: string | undefined;
}): Scope {
  const given = [company, hostGroup, sponsor].filter((one) => one !== undefined);
  if (given.length > 1) throw new UamError("invalid", "Give one of company, host_group and sponsor");
  if (company !== undefined) return { company };
  if (hostGroup !== undefined) return { hostGroup };
  return sponsor === undefined ? "all" : { sponsor };
}

function scopeOf(scope: BodyOf<"POST /reviews">["scope"]): Scope {
  if (scope === "all") return scope;
  return "host_group" in scope ? { hostGroup: scope.host_group } : scope;
}
