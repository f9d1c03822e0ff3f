/** Reviews as the records that the API and the command line show. */

import type { Item } from "../domain/reviews/items.ts";
import type { Report } from "../domain/reviews/report.ts";
import type { Review } from "../domain/reviews/reviews.ts";
import { csvBeginning, csvLine } from "../shared/text/csv-cell.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../shared/time/timestamp.ts";

export function reviewRecord({ row, counts }: Review) {
  const { total, kept, ended, shortened, unanswered } = counts;
  return {
    id: row.id,
    scope: scopeRecord(row),
    scope_name: row.scopeName,
    status: row.status,
    started_at: formatTimestamp(row.startedAt),
    due_at: formatTimestamp(row.dueAt),
    closed_at: formatOptionalTimestamp(row.closedAt),
    unanswered_way: row.unanswered,
    ...{ total, kept, ended, shortened, unanswered },
  };
}

export function reviewItemRecord({ row, evidence, asked }: Item) {
  return {
    user_id: row.userId,
    username: row.username,
    answer: row.answer,
    grace_until: formatOptionalTimestamp(row.graceUntil),
    until: formatOptionalTimestamp(row.until),
    reason: row.reason,
    answered_at: formatOptionalTimestamp(row.answeredAt),
    answered_by_type: row.answeredByType,
    answered_by: row.answeredBy,
    answered_from: row.answeredFrom,
    ...(asked === undefined ? {} : { asked }),
    record: row.record === 0 ? null : row.record,
    evidence: evidence === undefined ? null : writable(evidence),
  };
}

export function reportRecord({ review, head, items }: Report) {
  const { row } = review;
  return {
    review: reviewRecord(review),
    closed_at: formatOptionalTimestamp(row.closedAt),
    unanswered: row.unanswered,
    start_record: row.startRecord,
    close_record: row.closeRecord === 0 ? null : row.closeRecord,
    head,
    items: items.map(reviewItemRecord),
  };
}

/** What each line of the CSV repeats, so that it stands for itself. */
const COMMON = ["review", "scope", "started_at", "due_at", "closed_at", "start_record", "close_record", "head"];

const COLUMNS = [
  ...(["user_id", "username", "answer", "grace_until", "until", "reason"] as const),
  ...(["answered_at", "answered_by_type", "answered_by", "answered_from", "record", "evidence"] as const),
];

/** CSV with a byte order mark and a header row; the evidence is JSON. */
export function reportCsv(report: Report): string {
  const record = reportRecord(report);
  const { review } = record;
  const scope = typeof review.scope === "string" ? review.scope : JSON.stringify(review.scope);
  const common = [review.id, scope, review.started_at, review.due_at, record.closed_at].map(asText);
  const records = [record.start_record, record.close_record, record.head].map(asText);
  const lines = record.items.map((item) =>
    csvLine([...common, ...records, ...COLUMNS.map((name) => asText(item[name]))]),
  );
  return [csvBeginning([...COMMON, ...COLUMNS]), ...lines].join("");
}

function asText(value: unknown): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function scopeRecord({ scope, scopeId, scopeName }: Review["row"]) {
  switch (scope) {
    case "all":
      return "all" as const;
    case "company":
      return { company: scopeId ?? 0 };
    case "host_group":
      return { host_group: scopeId ?? 0 };
    case "sponsor":
      return { sponsor: scopeName };
  }
}

type Evidence = NonNullable<Item["evidence"]>;

/** With lists that may be changed, as types of answers have them. */
function writable(evidence: Evidence) {
  const { hosts, groups, source_networks, keys, drift } = evidence;
  return {
    ...evidence,
    ...{ hosts: [...hosts], groups: [...groups], source_networks: [...source_networks] },
    ...{ keys: [...keys], drift: [...drift] },
  };
}
