/** Checks the report of a review against the audit log: whether each line says what the log says, and none is missing. */

import { and, inArray, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import type { Database } from "../../store/client.ts";
import { type AuditRow, audit } from "../../store/schema-audit.ts";
import { describeHead, parseHead } from "../audit/head.ts";
import { verifyAudit } from "../audit/verify.ts";
import type { Services } from "../operation/context.ts";
import { type Evidence, evidenceHash } from "./evidence.ts";
import { factsOf } from "./report-columns.ts";
import { type ReportFile, type ReportLine, readReport } from "./report-file.ts";
import { hashOfUsers } from "./start.ts";

/** How a report compares with the log. */
export interface Verified {
  readonly review: number;
  /** Whether the review was closed when the report was made. */
  readonly isClosed: boolean;
  /** Users in the report. */
  readonly users: number;
  /** What differs, in sentences; none if the report says what the log says. */
  readonly faults: readonly string[];
}

/** Records that are read at once. */
const BLOCK = 1000;

/** Compares the report, CSV or JSON as the service wrote it, with the log, which is itself verified first. Throws `invalid` for a text that is no report. */
export async function verifyReport(services: Pick<Services, "db" | "seal">, text: string): Promise<Verified> {
  const report = readReport(text);
  const { review, lines, startRecord, closeRecord } = report;
  const head = parseHead(report.head);
  // Digits may be upper case in a head that people type; the service writes none.
  if (describeHead(head) !== report.head)
    throw new UamError("invalid", "The report's head is not as the service writes it");
  const { fault } = await verifyAudit(services, head);
  const faults = fault === undefined ? [] : [`The audit log itself is not as it was: ${fault.message}`];
  const ids = [
    startRecord,
    ...(closeRecord === null ? [] : [closeRecord]),
    ...lines.flatMap(({ record }) => record ?? []),
  ];
  const records = await readRecords(services.db, ids);
  faults.push(...startFaults(report, records.get(startRecord)));
  faults.push(
    ...lines.flatMap((line) => lineFaults(report, line, line.record === null ? undefined : records.get(line.record))),
  );
  if (closeRecord !== null) faults.push(...closeFaults(report, records.get(closeRecord)));
  faults.push(...ownFaults(report));
  return { review, isClosed: closeRecord !== null, users: lines.length, faults };
}

type Records = ReadonlyMap<number, AuditRow>;

async function readRecords(db: Database, ids: readonly number[]): Promise<Records> {
  const found = new Map<number, AuditRow>();
  for (let start = 0; start < ids.length; start += BLOCK) {
    const wanted = and(inArray(audit.id, ids.slice(start, start + BLOCK)), sql`${audit.result} = 'success'`);
    for (const row of await db.select().from(audit).where(wanted)) found.set(row.id, row);
  }
  return found;
}

/** Nobody may be missing, and nobody added; nor may the review have been another one. */
function startFaults(report: ReportFile, record: AuditRow | undefined): readonly string[] {
  const { review, startRecord, lines } = report;
  if (!isOf(record, review, ["review.start"])) return [`Record ${startRecord} is not the start of review ${review}.`];
  const { users, users_sha256: hash, ...detail } = detailOf(record);
  const faults = saidFaults(report, record, ["scope", "scope_id", "started_at", "due_at", "unanswered"], detail);
  if (users === lines.length && hash === hashOfUsers(lines.map(({ userId }) => userId))) return faults;
  return [`The review began with ${String(users)} users; these are not exactly those in the report.`, ...faults];
}

function closeFaults(report: ReportFile, record: AuditRow | undefined): readonly string[] {
  const { review, closeRecord, lines } = report;
  if (!isOf(record, review, ["review.close"])) {
    return [`Record ${String(closeRecord)} is not the close of review ${review}.`];
  }
  const detail = detailOf(record);
  const faults = Object.entries(countsOf(lines))
    .filter(([name, value]) => detail[name] !== value)
    .map(
      ([name, value]) => `The review was closed with ${name} ${String(detail[name])}; in the report it is ${value}.`,
    );
  return [...faults, ...saidFaults(report, record, ["closed_at"], detail)];
}

/** What the report says of the whole review, and the record otherwise. Older records do not say all of it. */
function saidFaults(
  { said }: ReportFile,
  { id }: AuditRow,
  names: readonly (keyof ReportFile["said"])[],
  detail: Readonly<Record<string, unknown>>,
): readonly string[] {
  return names.flatMap((name) => {
    const [here, there] = [said[name], detail[name]];
    if (here === undefined || there === undefined || here === String(there)) return [];
    return [`The review's ${name} is ${JSON.stringify(there)} in record ${id}, and not so in the report.`];
  });
}

/** As a review's own counts are; nobody who is not answered for is in a closed one. */
function countsOf(lines: readonly ReportLine[]): Readonly<Record<string, number>> {
  const count = (...answers: readonly string[]) => lines.filter(({ answer }) => answers.includes(answer)).length;
  return {
    total: lines.length,
    kept: count("keep"),
    ended: count("end", "gone"),
    shortened: count("shorten"),
    unanswered: count("unanswered", ""),
  };
}

/** The report's own counts are those of its lines, and it says of an open review only what can be. */
function ownFaults({ counts, lines, closeRecord, said }: ReportFile): readonly string[] {
  const faults = Object.entries(countsOf(lines))
    .filter(([name, value]) => counts[name] !== undefined && counts[name] !== value)
    .map(([name, value]) => `The report counts ${name} ${String(counts[name])}; of its lines it is ${value}.`);
  const isShutEarly = closeRecord === null && (said.closed_at ?? "") !== "";
  return isShutEarly ? [...faults, "The report says when the review was closed, and not by which record."] : faults;
}

function lineFaults(
  { review, closeRecord }: ReportFile,
  line: ReportLine,
  record: AuditRow | undefined,
): readonly string[] {
  const { username, userId, answer } = line;
  if (line.record === null && answer === "") {
    return closeRecord === null ? [] : [`${username} has no answer, and the review is closed.`];
  }
  if (!isOf(record, review, ["review.answer", "review.unanswered"]) || record.subjectId !== userId) {
    return [`${username}: record ${String(line.record)} is not about them in review ${review}.`];
  }
  const detail = detailOf(record);
  const said: Readonly<Record<string, unknown>> = {
    username: detail.username,
    answer: detail.answer,
    until: detail.until ?? "",
    reason: detail.reason ?? "",
    graceUntil: detail.grace_until ?? "",
    answeredAt: formatTimestamp(record.createdAt),
    answeredByType: record.actorType,
    answeredBy: record.actor,
    answeredFrom: record.ip,
  };
  const faults = Object.entries(said)
    .filter(([name, value]) => line[name as keyof ReportLine] !== value)
    .map(
      ([name, value]) =>
        `${username}: ${WORDS[name] ?? name} is ${JSON.stringify(value)} in record ${record.id}, and not so in the report.`,
    );
  const hash = line.evidence === "" ? undefined : evidenceHash(line.evidence);
  if (detail.evidence_sha256 !== hash)
    return [...faults, `${username}: the evidence is not what record ${record.id} has the hash of.`];
  return [...faults, ...factFaults(line)];
}

/** Of evidence that is as it was sealed. */
function factFaults({ username, evidence, facts }: ReportLine): readonly string[] {
  const sealed = factsOf(evidence === "" ? undefined : (JSON.parse(evidence) as Evidence));
  return Object.entries(facts)
    .filter(([name, value]) => sealed[name as keyof typeof sealed] !== value)
    .map(([name]) => `${username}: ${name} is not what the evidence beside it says.`);
}

const WORDS: Readonly<Record<string, string>> = {
  graceUntil: "grace_until",
  answeredAt: "answered_at",
  answeredByType: "answered_by_type",
  answeredBy: "answered_by",
  answeredFrom: "answered_from",
};

function isOf(record: AuditRow | undefined, review: number, actions: readonly string[]): record is AuditRow {
  return record !== undefined && actions.includes(record.action) && record.resourceId === String(review);
}

function detailOf({ detail }: AuditRow): Readonly<Record<string, unknown>> {
  return JSON.parse(detail) as Record<string, unknown>;
}
