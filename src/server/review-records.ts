/** Reviews as the records that the API and the command line show. */

import { evidenceText } from "../domain/reviews/evidence.ts";
import type { Item } from "../domain/reviews/items.ts";
import type { Report } from "../domain/reviews/report.ts";
import {
  ANSWER_COLUMNS,
  COMMON_COLUMNS,
  FACT_COLUMNS,
  factsOf,
  SEALED_COLUMN,
} from "../domain/reviews/report-columns.ts";
import { type Review, scopeText } from "../domain/reviews/reviews.ts";
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

/**
 * CSV with a byte order mark and a header row. Everything is in columns for people; the last one repeats the evidence as JSON, as it is sealed.
 */
export function reportCsv(report: Report): string {
  const record = reportRecord(report);
  const { review } = record;
  const common = { ...review, ...record, review: review.id, scope: scopeText(report.review.row) };
  const repeated = COMMON_COLUMNS.map((name) => asText(common[name]));
  const lines = report.items.map((item) => {
    const said = reviewItemRecord(item);
    const facts = factsOf(item.evidence);
    return csvLine([
      ...repeated,
      ...ANSWER_COLUMNS.map((name) => asText(said[name])),
      ...FACT_COLUMNS.map((name) => facts[name]),
      evidenceText(item.evidence),
    ]);
  });
  return [csvBeginning([...COMMON_COLUMNS, ...ANSWER_COLUMNS, ...FACT_COLUMNS, SEALED_COLUMN]), ...lines].join("");
}

function asText(value: string | number | null): string {
  return value === null ? "" : String(value);
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
