/** What became of two operations, in words that are the same for every user they are tried on. */

import type { Observed, PairAnswer, Row, Subject } from "./world.ts";

const HOUR = 3_600_000;
const TIMESTAMP = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00(?::00)?)/g;
/** Numbers that no two users share. */
const UNIQUE = new Set(["uid", "removed", "up_to", "public_key"]);
/** As mails say a day. */
const DAY_IN_WORDS =
  /\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}/g;

/**
 * A caller whose session another request ends while theirs is under way is refused, and that is on record, because they were somebody when they
 * came. Had they come later, they would have been nobody: that is the same outcome.
 */
const ENDED_MEANWHILE: ReadonlySet<unknown> = new Set([
  "The session has ended since the request came; log in again",
  "The account was disabled since the request came",
]);
const NOBODY: PairAnswer = { status: 401, body: { error: "Log in first" } };

function asIfLater(answer: PairAnswer): PairAnswer {
  return ENDED_MEANWHILE.has((answer.body as { error?: unknown } | undefined)?.error) ? NOBODY : answer;
}

function isOfNobody(row: Row): boolean {
  return row.result === "failed" && ENDED_MEANWHILE.has(JSON.parse(String(row.detail)).err);
}

/** The answers and what is stored, as text to be compared. */
export function describe(subject: Subject, answers: readonly PairAnswer[], observed: Observed): string {
  const named = (value: unknown, field = ""): unknown => plain(subject, value, field);
  const rows = (found: readonly Row[], kind: Kind) =>
    found.map((row) => JSON.stringify(named({ ...row, id: labelOf(subject, kind, row.id) }))).sort();
  return JSON.stringify(
    {
      answers: answers.map(asIfLater).map(({ status, body }) => ({ status, body: named(labelled(subject, body)) })),
      users: rows(observed.users, "user"),
      accounts: rows(observed.accounts, "user"),
      keys: rows(observed.keys, "key"),
      grants: rows(observed.grants, "other"),
      closings: rows(observed.closings, "other"),
      approvals: rows(observed.approvals, "application"),
      intents: rows(observed.intents, "other"),
      mails: rows(observed.mails, "other"),
      records: observed.records
        .filter((row) => !isOfNobody(row))
        .map((row) => JSON.stringify(named(recordOf(subject, row))))
        .sort(),
      host: named(observed.host ?? "no account"),
    },
    undefined,
    1,
  );
}

/** The lines in which the text differs from the one that is most like it. */
export function difference(actual: string, allowed: readonly string[]): string {
  const found = actual.split("\n");
  const candidates = allowed.map((text) => {
    const expected = text.split("\n");
    return [
      ...minus(expected, found).map((line) => `  - ${line.trim()}`),
      ...minus(found, expected).map((line) => `  + ${line.trim()}`),
    ];
  });
  return candidates.sort((a, b) => a.length - b.length)[0]?.join("\n") ?? actual;
}

function minus(from: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return from.filter((line) => {
    const index = left.indexOf(line);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

type Kind = "user" | "key" | "application" | "other";

function labelOf(subject: Subject, kind: Kind, id: unknown): unknown {
  if (kind === "other" || id === undefined || id === null || id === "") return kind === "other" ? undefined : id;
  const number = Number(id);
  if (kind === "user") return number === subject.userId ? "the user" : "a new user";
  if (kind === "key") return subject.keyIds.includes(number) ? `key ${subject.keyIds.indexOf(number)}` : "a new key";
  return number === subject.application
    ? "the application"
    : number === subject.extension
      ? "the request"
      : "a new one";
}

/** Names the record that an answer is about. */
function labelled(subject: Subject, body: unknown): unknown {
  const data = (body as { data?: Record<string, unknown> } | undefined)?.data;
  if (data === undefined || data.id === undefined) return body;
  const kind: Kind = "fingerprint" in data ? "key" : "kind" in data ? "application" : "user";
  return { data: { ...data, id: labelOf(subject, kind, data.id) } };
}

function recordOf(subject: Subject, row: Row): Row {
  const kind: Kind = row.resource_type === "user" ? "user" : row.resource_type === "ssh_key" ? "key" : "other";
  const resource = kind === "other" ? row.resource_id : labelOf(subject, kind, row.resource_id);
  return { ...row, resource_id: resource, detail: JSON.parse(String(row.detail)) };
}

function plain(subject: Subject, value: unknown, field: string): unknown {
  if (UNIQUE.has(field)) return "unique";
  if (field === "user_id" || field === "subject_id") return labelOf(subject, "user", value);
  if (field === "key_id") return value === 0 ? 0 : labelOf(subject, "key", value);
  if (field === "application" || field === "rejected_application") return labelOf(subject, "application", value);
  if (Array.isArray(value)) return value.map((each) => plain(subject, each, ""));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(subject, each, key)]));
  }
  return typeof value === "string" ? plainText(subject, value) : value;
}

function plainText(subject: Subject, text: string): string {
  let result = text.replaceAll(subject.username, "NAME").replaceAll(`the id ${subject.userId}`, "the id ID");
  for (const [fingerprint, label] of subject.labels) result = result.replaceAll(fingerprint, label);
  const begin = subject.startedAt.getTime();
  const relative = (time: number, unit: number, name: string) => `T+${Math.round((time - begin) / unit)}${name}`;
  return result
    .replace(TIMESTAMP, (time) => relative(new Date(time).getTime(), HOUR, "h"))
    .replace(DAY_IN_WORDS, (day) => relative(Date.parse(`${day} UTC`) + (begin % (24 * HOUR)), 24 * HOUR, "d"));
}
