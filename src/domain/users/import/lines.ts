/** A file of new users, line by line: CSV whose header names fields of a user, as `GET /users/export` writes it. Pure. */

import { UamError } from "../../../shared/errors.ts";
import type { Hours } from "../../../shared/hours/hours.ts";
import { type OnRequest, parseOnRequest } from "../../../shared/hours/on-request.ts";
import { parseHours } from "../../../shared/hours/text.ts";
import { MAX_IMPORT_LINES } from "../../../shared/product/limits.ts";
import type { Reason } from "../../../shared/product/reasons.ts";
import { HOURS_ENDS } from "../../../shared/product/statuses.ts";
import { counted } from "../../../shared/text/counted.ts";
import { type CsvRecord, csvRecords, separatorOf } from "../../../shared/text/csv.ts";
import { unguarded } from "../../../shared/text/csv-cell.ts";
import { nearMiss } from "../../../shared/text/near-miss.ts";
import { DAY, shift } from "../../../shared/time/clock.ts";
import { isTimestamp, parseTimestamp } from "../../../shared/time/timestamp.ts";
import type { UserRow } from "../../../store/schema.ts";
import { scheduleAt } from "../../accounts/access-state.ts";
import { parseSponsor, requireSponsor } from "../../sponsors/sponsor-email.ts";
import { endOf, FIELDS, type NewUser, type ParsedUser, type Rules, startOf } from "../new-user.ts";

/** What is wrong with a line of the file: of which column, or "" for the whole line. The header is line 1. */
export interface Fault {
  readonly line: number;
  readonly column: string;
  readonly error: string;
  /** `user.taken` where the user is there already. */
  readonly reason: Reason;
}

/** A line that could be a user. */
export interface Line {
  readonly line: number;
  readonly user: ParsedUser;
}

export interface Columns {
  readonly names: readonly string[];
  /** Those that are not read, in the order of the file. */
  readonly ignored: readonly string[];
}

const READ = [
  ...["username", "email", "full_name", "supervisor", "purpose", "note", "source_networks", "expire_at", "ttl_days"],
  ...["status", "company_id", "sponsor_email", "starts_at", "hours", "hours_end", "on_request", "profile"],
] as const;
/** What an export has besides, and nobody can choose. */
const ONLY_EXPORTED = [
  ...[
    "id",
    "host_account",
    "created_at",
    "updated_at",
    "disabled_at",
    "last_login_at",
    "active_keys",
    "last_key_use_at",
  ],
  ...["manager", "welcome"],
] as const;
const NEEDED = ["username", "email"] as const;
/** Characters of a column's name that are said. */
const SHOWN = 40;

/** The file as UTF-8; throws `invalid` if it is in another encoding. */
export function decodeFile(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UamError("invalid", 'The file is not in UTF-8; in a spreadsheet, save it as "CSV UTF-8"');
  }
}

/**
 * Reads the file: what its columns are, and then each line that is not blank, as a user or with its faults. Throws `invalid` for a file
 * without a usable header.
 */
export function readLines(text: string): { readonly columns: Columns; readonly records: Iterable<CsvRecord> } {
  const records = csvRecords(text, separatorOf(text));
  const first = records.next();
  if (first.done === true) throw new UamError("invalid", "The file is empty");
  if ("fault" in first.value) throw new UamError("invalid", `Line ${first.value.line}: ${first.value.fault}`);
  return { columns: parseHeader(first.value.line, first.value.values), records };
}

/** The names in the header; throws `invalid` for one that is there twice or looks like a known one, and where a needed one is missing. */
function parseHeader(line: number, values: readonly string[]): Columns {
  const known: readonly string[] = [...READ, ...ONLY_EXPORTED];
  const names = values.map((value) => value.trim());
  const fail = (sentence: string): never => {
    throw new UamError("invalid", `Line ${line}: ${sentence}`);
  };
  for (const [at, name] of names.entries()) {
    const shown = JSON.stringify(name.slice(0, SHOWN));
    if (name !== "" && names.indexOf(name) !== at) fail(`the column ${shown} is there twice`);
    const meant = name === "" ? undefined : nearMiss(name, known);
    if (meant !== undefined) fail(`there is no column ${shown}. Did you mean ${meant}?`);
  }
  for (const name of NEEDED) {
    if (!names.includes(name))
      fail(`the header has no column ${name}; it names fields of a user, as in username,email`);
  }
  return { names, ignored: names.filter((name) => name !== "" && !(READ as readonly string[]).includes(name)) };
}

/** The user of a line, or all that is wrong with it; undefined for one without any value, as spreadsheets leave them. */
export function parseLine(record: CsvRecord, { names }: Columns, rules: Rules): Line | readonly Fault[] | undefined {
  const { line } = record;
  if ("fault" in record) return [faultOf(line, "", new UamError("invalid", record.fault))];
  const { values } = record;
  if (values.every((value) => value.trim() === "")) return undefined;
  if (values.length !== names.length) {
    const error = `The line has ${counted(values.length, "value")}, and the header ${counted(names.length, "column")}`;
    return [faultOf(line, "", new UamError("invalid", error))];
  }
  const given = (name: (typeof READ)[number]) => {
    const at = names.indexOf(name);
    return at < 0 ? "" : unguarded(values[at] ?? "");
  };
  const faults: Fault[] = [];
  function check<T>(column: string, parse: () => T): T | undefined {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof UamError)) throw error;
      faults.push(faultOf(line, column, error));
      return undefined;
    }
  }
  const input: NewUser = {
    username: given("username").trim(),
    email: given("email"),
    fullName: given("full_name"),
    supervisor: given("supervisor"),
    purpose: given("purpose"),
    note: given("note"),
    sponsorEmail: given("sponsor_email"),
    sourceNetworks: given("source_networks")
      .split(/[\s,;]+/)
      .filter((network) => network !== ""),
    ttlDays: check("ttl_days", () => daysOf(given("ttl_days").trim())),
    expireAt: check("expire_at", () => timeOf(given("expire_at").trim())),
    startsAt: check("starts_at", () => beginOf(given("starts_at").trim(), rules.now)),
    hours: check("hours", () => hoursOf(given("hours").trim())),
    onRequest: check("on_request", () => onRequestOf(given("on_request").trim())),
  };
  const startsAt = check("starts_at", () => startOf(input, rules.now)) ?? null;
  const times = {
    ...{ startsAt, companyHours: null, hours: check("hours", () => FIELDS.hours(input)) ?? null },
    ...FIELDS.requestRule(input),
  };
  const user: { readonly [K in keyof ParsedUser]: ParsedUser[K] | undefined } = {
    username: check("username", () => FIELDS.username(input)),
    email: check("email", () => FIELDS.email(input)),
    fullName: check("full_name", () => FIELDS.fullName(input)),
    supervisor: check("supervisor", () => FIELDS.supervisor(input)),
    purpose: check("purpose", () => FIELDS.purpose(input)),
    note: check("note", () => FIELDS.note(input)),
    sponsorEmail: check("sponsor_email", () => sponsorIn(input, rules)),
    sourceNetworks: check("source_networks", () => FIELDS.sourceNetworks(input)),
    expireAt: check(input.expireAt === undefined ? "ttl_days" : "expire_at", () =>
      endOf(input, { ...rules, start: startsAt ?? rules.now }),
    ),
    ...times,
    hoursEnd: check("hours_end", () => hoursEndOf(given("hours_end").trim())),
    hoursDueAt: scheduleAt({ ...times, allowedFrom: null, allowedUntil: null }, rules.now).changesAt,
    profile: null,
  };
  check("status", () => requireActive(given("status").trim()));
  check("company_id", () => requireNoCompany(given("company_id").trim()));
  check("profile", () => requireNoProfile(given("profile").trim()));
  // What was not parsed has a fault.
  return faults.length > 0 ? faults : { line, user: user as ParsedUser };
}

/** The refusal as a fault of the line. */
export function faultOf(line: number, column: string, { message, reason }: UamError): Fault {
  return { line, column, error: message, reason };
}

function sponsorIn(input: NewUser, { sponsor }: Rules): string {
  const address = parseSponsor(sponsor, input);
  requireSponsor(sponsor, address);
  return address;
}

function daysOf(text: string): number | undefined {
  if (text === "") return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new UamError("invalid", "The number of days must be a whole number");
  return Number(text);
}

/** Spreadsheets write days: one by itself is meant whole, in UTC, as on the command line. */
function timeOf(text: string): Date | undefined {
  if (text === "") return undefined;
  const day = dayOf(text);
  if (day !== undefined) return shift(day, DAY);
  if (isTimestamp(text)) return parseTimestamp(text);
  throw new UamError("invalid", "expire_at is not an end such as 2026-12-31 or 2026-12-31T17:00:00Z");
}

/** An export has those that have come, too: they are none any more. */
function beginOf(text: string, now: Date): Date | undefined {
  if (text === "") return undefined;
  const begin = dayOf(text) ?? (isTimestamp(text) ? parseTimestamp(text) : undefined);
  if (begin === undefined)
    throw new UamError("invalid", "starts_at is not a beginning such as 2026-12-01 or 2026-12-01T07:00:00Z");
  return begin <= now ? undefined : begin;
}

/** The beginning of the day, in UTC; undefined for anything else than a day. */
function dayOf(text: string): Date | undefined {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && isTimestamp(`${text}T00:00:00Z`);
  return isDay ? parseTimestamp(`${text}T00:00:00Z`) : undefined;
}

function hoursOf(text: string): Hours | null {
  return text === "" || text === "always" ? null : parseHours(text);
}

function hoursEndOf(text: string): UserRow["hoursEnd"] {
  const known = text === "" ? "sessions" : HOURS_ENDS.find((one) => one === text);
  if (known === undefined) throw new UamError("invalid", `hours_end is one of ${HOURS_ENDS.join(", ")}`);
  return known;
}

function onRequestOf(text: string): OnRequest | null {
  return text === "" || text === "none" ? null : parseOnRequest(text);
}

/** An import gives access: it must not open what was shut where the file was written. */
function requireActive(status: string): void {
  if (status !== "" && status !== "active") {
    throw new UamError("invalid", "Only active users are imported: take the line out, or empty its status");
  }
}

/** Nor must it lift the limits of a company. */
function requireNoCompany(id: string): void {
  if (id === "") return;
  throw new UamError("invalid", "Users of a company are not imported: create them one by one, or empty company_id");
}

/** Nor what their profile keeps them from. */
function requireNoProfile(name: string): void {
  if (name === "") return;
  throw new UamError("invalid", "Users with a profile are not imported: create them one by one, or empty profile");
}

/** Throws `invalid` for a file of too many lines. */
export function requireFewer(lines: number): void {
  if (lines > MAX_IMPORT_LINES) {
    throw new UamError("invalid", `The file has more than ${MAX_IMPORT_LINES} users; split it`);
  }
}
