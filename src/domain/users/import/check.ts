/** Checks a file of new users: against the rules, against itself, and against what is there. Changes nothing. */

import { setImmediate as breathe } from "node:timers/promises";
import { inArray } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { MAX_IMPORT_FAULTS } from "../../../shared/product/limits.ts";
import { hostAccountOf } from "../../../shared/text/account-name.ts";
import { users } from "../../../store/schema.ts";
import { isDefaultLocal } from "../../hosts/first-grant.ts";
import type { Context } from "../../operation/context.ts";
import { readSetting } from "../../settings/settings.ts";
import { decodeFile, type Fault, faultOf, type Line, parseLine, readLines, requireFewer } from "./lines.ts";

/** What an import of the file would do. */
export interface Checked {
  /** How many users the file has. */
  readonly users: number;
  /** The lines that can be imported, in the order of the file. */
  readonly good: readonly Line[];
  /** Columns that are not read. */
  readonly ignored: readonly string[];
  readonly faults: Faults;
  /** All of them. */
  readonly all: readonly Fault[];
}

/** Lines that cannot be imported. */
export interface Faults {
  /** Lines whose users are there already. */
  readonly existing: number;
  /** Lines with other faults. */
  readonly faulty: number;
  /** All faults; a line can have several. */
  readonly total: number;
  /** The first of them by line, at most `MAX_IMPORT_FAULTS`. */
  readonly items: readonly Fault[];
}

/** Lines that are checked without letting other requests have their turn: a few milliseconds' worth. */
const AT_ONCE = 100;

/** Checks the file as it is; throws `invalid` where it cannot be read at all. Takes time and memory linear in its size. */
export async function checkImport(context: Context, bytes: Uint8Array): Promise<Checked> {
  const { columns, records } = readLines(decodeFile(bytes));
  const defaultTtl = await readSetting(context, context.db, "policy.default_ttl");
  const rules = { now: context.clock.now(), defaultTtl, sponsor: context.policy.sponsor };
  const lineOf = new Map<string, number>();
  const faults: Fault[] = [];
  const lines: Line[] = [];
  let read = 0;
  let count = 0;
  for (const record of records) {
    if (++read % AT_ONCE === 0) await breathe();
    const parsed = parseLine(record, columns, rules);
    if (parsed === undefined) continue;
    requireFewer(++count);
    if (!("user" in parsed)) {
      faults.push(...parsed);
      continue;
    }
    const first = lineOf.get(parsed.user.username);
    if (first === undefined) {
      lineOf.set(parsed.user.username, parsed.line);
      lines.push(parsed);
    } else {
      const sentence = `${parsed.user.username} is in line ${first}, too`;
      faults.push(faultOf(parsed.line, "username", new UamError("invalid", sentence)));
    }
  }
  const { good, taken } = await withoutTaken(context, lines);
  const all = [...faults, ...taken];
  return { users: count, good, ignored: columns.ignored, faults: summary(all), all };
}

/** The faults in the order of the file, the first of them by themselves. */
export function summary(faults: readonly Fault[]): Faults {
  const existing = new Set<number>();
  const faulty = new Set<number>();
  for (const { line, reason } of faults) (reason === "user.taken" ? existing : faulty).add(line);
  const items = faults.toSorted((one, other) => one.line - other.line).slice(0, MAX_IMPORT_FAULTS);
  return { existing: existing.size, faulty: faulty.size, total: faults.length, items };
}

/** The refusal of a line whose username is stored. */
export function takenFault({ line, user }: Line): Fault {
  return faultOf(
    line,
    "username",
    new UamError("conflict", `There is a user ${user.username} already`, { reason: "user.taken" }),
  );
}

async function withoutTaken(context: Context, lines: readonly Line[]) {
  const stored = await storedNames(context, lines);
  const looksAtHost = context.host.mode !== "dry-run" && (await isDefaultLocal(context.db));
  const good: Line[] = [];
  const taken: Fault[] = [];
  for (const one of lines) {
    const account = hostAccountOf(one.user.username);
    if (stored.has(one.user.username)) taken.push(takenFault(one));
    else if (looksAtHost && (await context.host.nameTaken(account))) {
      const sentence = `The host already has an account or a home directory named ${account}`;
      taken.push(faultOf(one.line, "username", new UamError("conflict", sentence, { reason: "account.taken" })));
    } else good.push(one);
  }
  return { good, taken };
}

async function storedNames({ db }: Context, lines: readonly Line[]): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (let at = 0; at < lines.length; at += 1000) {
    const some = lines.slice(at, at + 1000).map(({ user }) => user.username);
    const rows = await db.select({ username: users.username }).from(users).where(inArray(users.username, some));
    for (const { username } of rows) names.add(username);
  }
  return names;
}
