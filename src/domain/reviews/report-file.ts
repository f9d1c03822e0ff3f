/** Reads the report of a review back from the file that the service made of it. Pure. */

import { UamError } from "../../shared/errors.ts";
import { csvRecords } from "../../shared/text/csv.ts";
import { unguarded } from "../../shared/text/csv-cell.ts";
import { ANSWER_COLUMNS, COMMON_COLUMNS, FACT_COLUMNS, type Facts, SEALED_COLUMN } from "./report-columns.ts";

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
  /** What the columns beside it say of the evidence; JSON and older reports have none. */
  readonly facts: Partial<Facts>;
}

export interface ReportFile {
  readonly review: number;
  readonly startRecord: number;
  readonly closeRecord: number | null;
  readonly head: string;
  /** What the report says of the whole review, in the words of its records; only what it has. */
  readonly said: Readonly<Partial<Record<SaidName, string>>>;
  /** How many users were answered for in which way, as JSON says. */
  readonly counts: Readonly<Record<string, unknown>>;
  readonly lines: readonly ReportLine[];
}

type SaidName = "scope" | "scope_id" | "started_at" | "due_at" | "closed_at" | "unanswered";

type Values = Readonly<Record<string, unknown>>;

/** The report in a text of CSV or JSON; throws `invalid`. */
export function readReport(text: string): ReportFile {
  return /^\uFEFF?\s*\{/.test(text) ? fromJson(text.replace(/^\uFEFF/, "")) : fromCsv(text);
}

const REPORT = ["review", "closed_at", "unanswered", "start_record", "close_record", "head", "items"];
const REVIEW = [
  ...["id", "scope", "scope_name", "status", "started_at", "due_at", "closed_at", "unanswered_way"],
  ...["total", "kept", "ended", "shortened", "unanswered"],
];
const ITEM = [...ANSWER_COLUMNS, SEALED_COLUMN];

function fromJson(text: string): ReportFile {
  const parsed = parsedJson(text);
  const report = isValues(parsed.data) ? parsed.data : parsed;
  const { review, items, ...rest } = report;
  if (!isValues(review) || !Array.isArray(items) || !items.every(isValues)) throw noReport();
  requireKnown(Object.keys(report), REPORT);
  requireKnown(Object.keys(review), REVIEW);
  for (const item of items) requireKnown(Object.keys(item), ITEM);
  const { id, scope, scope_name: name, status, started_at, due_at, closed_at, unanswered_way: way, ...counts } = review;
  const isClosed = rest.close_record !== null;
  const twice = [closed_at === rest.closed_at, way === undefined || way === rest.unanswered];
  if (twice.includes(false) || status !== (isClosed ? "closed" : "open")) throw noReport();
  const said = { ...scopeSaid(scope, name), started_at, due_at, closed_at, unanswered: rest.unanswered };
  return { ...fileOf({ ...rest, review: id }, items), said: textsIn(said), counts };
}

function fromCsv(text: string): ReportFile {
  const [header, ...records] = [...csvRecords(text, ",")].map((record) => {
    if ("fault" in record) throw noReport();
    return record.values;
  });
  if (header === undefined || records.some(({ length }) => length !== header.length)) throw noReport();
  requireKnown(header, [...COMMON_COLUMNS, ...ANSWER_COLUMNS, ...FACT_COLUMNS, SEALED_COLUMN]);
  const rows = records.map((values) =>
    Object.fromEntries(header.map((name, at) => [name, unguarded(values[at] ?? "")] as const)),
  );
  const [first] = rows;
  if (first === undefined) throw noReport();
  if (rows.some((row) => COMMON_COLUMNS.some((name) => row[name] !== first[name]))) throw noReport();
  const { scope = "", started_at, due_at, closed_at } = first;
  // Reports were once written with the scope as JSON.
  const scopes = scope.startsWith("{") ? scopeSaid(parsedJson(scope), undefined) : { scope };
  return { ...fileOf(first, rows), said: textsIn({ ...scopes, started_at, due_at, closed_at }), counts: {} };
}

/** Of a scope as the API has it. A name is not known from a file that has only an id. */
function scopeSaid(scope: unknown, name: unknown): Values {
  if (typeof scope === "string")
    return { scope: name === undefined || name === "" ? scope : `${scope} ${String(name)}` };
  if (!isValues(scope)) throw noReport();
  const { company, host_group: group, sponsor } = scope;
  requireKnown(Object.keys(scope), ["company", "host_group", "sponsor"]);
  if (sponsor !== undefined) {
    if (name !== undefined && name !== sponsor) throw noReport();
    return { scope: `the sponsor ${String(sponsor)}` };
  }
  const words = company === undefined ? "the group of hosts" : "the company";
  return {
    scope_id: String(company ?? group),
    ...(name === undefined ? {} : { scope: `${words} ${String(name)}` }),
  };
}

/** Those that are texts. */
function textsIn(values: Values): ReportFile["said"] {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === "string"));
}

/** A name that is not the service's own, or is there twice, is not what it wrote. */
function requireKnown(names: readonly string[], known: readonly string[]): void {
  if (new Set(names).size !== names.length || names.some((name) => !known.includes(name))) throw noReport();
}

function fileOf(common: Values, rows: readonly Values[]): Omit<ReportFile, "said" | "counts"> {
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
    facts: Object.fromEntries(FACT_COLUMNS.flatMap((name) => (name in row ? [[name, textIn(row[name])]] : []))),
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
