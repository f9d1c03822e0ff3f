/** Reads the report of a review back from the file that the service made of it. Pure. */

import { UamError } from "../../shared/errors.ts";
import { csvRecords } from "../../shared/text/csv.ts";
import { unguarded } from "../../shared/text/csv-cell.ts";

/** What a report says of one user; "" for what it does not say. */
export interface ReportLine {
  readonly userId: number;
  readonly username: string;
  readonly answer: string;
  readonly graceUntil: string;
  readonly until: string;
  readonly reason: string;
  readonly answeredAt: string;
  readonly answeredByType: string;
  readonly answeredBy: string;
  readonly answeredFrom: string;
  readonly record: number | null;
  /** The JSON whose hash the record has. */
  readonly evidence: string;
}

export interface ReportFile {
  readonly review: number;
  readonly startRecord: number;
  readonly closeRecord: number | null;
  readonly head: string;
  readonly lines: readonly ReportLine[];
}

type Values = Readonly<Record<string, unknown>>;

/** The report in a text of CSV or JSON; throws `invalid`. */
export function readReport(text: string): ReportFile {
  return /^\uFEFF?\s*\{/.test(text) ? fromJson(text.replace(/^\uFEFF/, "")) : fromCsv(text);
}

function fromJson(text: string): ReportFile {
  const parsed = parsedJson(text);
  const report = isValues(parsed.data) ? parsed.data : parsed;
  const { review, items } = report;
  if (!isValues(review) || !Array.isArray(items) || !items.every(isValues)) throw noReport();
  return fileOf({ ...report, review: review.id }, items);
}

function fromCsv(text: string): ReportFile {
  const [header, ...records] = [...csvRecords(text, ",")].map((record) => {
    if ("fault" in record) throw noReport();
    return record.values;
  });
  if (header === undefined) throw noReport();
  const rows = records.map((values) =>
    Object.fromEntries(header.map((name, at) => [name, unguarded(values[at] ?? "")] as const)),
  );
  const [first] = rows;
  if (first === undefined) throw noReport();
  const common = ["review", "start_record", "close_record", "head"];
  if (rows.some((row) => common.some((name) => row[name] !== first[name]))) throw noReport();
  return fileOf(first, rows);
}

function fileOf(common: Values, rows: readonly Values[]): ReportFile {
  const [review, startRecord] = [idIn(common.review), idIn(common.start_record)];
  if (review === null || startRecord === null) throw noReport();
  const head = textIn(common.head);
  return { review, startRecord, closeRecord: idIn(common.close_record), head, lines: rows.map(lineOf) };
}

function lineOf(row: Values): ReportLine {
  const userId = idIn(row.user_id);
  if (userId === null) throw noReport();
  return {
    userId,
    username: textIn(row.username),
    answer: textIn(row.answer),
    graceUntil: textIn(row.grace_until),
    until: textIn(row.until),
    reason: textIn(row.reason),
    answeredAt: textIn(row.answered_at),
    answeredByType: textIn(row.answered_by_type),
    answeredBy: textIn(row.answered_by),
    answeredFrom: textIn(row.answered_from),
    record: idIn(row.record),
    evidence: isValues(row.evidence) ? JSON.stringify(row.evidence) : textIn(row.evidence),
  };
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function idIn(value: unknown): number | null {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : null;
}

function isValues(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsedJson(text: string): Values {
  try {
    const value: unknown = JSON.parse(text);
    if (isValues(value)) return value;
  } catch {}
  throw noReport();
}

function noReport(): UamError {
  return new UamError("invalid", "This is not the report of a review, as the service writes it");
}
