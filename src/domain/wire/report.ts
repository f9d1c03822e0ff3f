/** Reports of agents. All of it is text from another machine: bounded, and believed for that host only. */

import { and, eq, inArray, sql } from "drizzle-orm";
import { type HostReport, parseCursor } from "../../protocol/fleet.ts";
import type { AccountRef } from "../../protocol/host.ts";
import { blankControlCharacters } from "../../shared/text/text.ts";
import { DAY, HOUR, shift } from "../../shared/time/clock.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { hostProblems } from "../../store/schema-fleet.ts";
import { accountsThere } from "../hosts/host-accounts.ts";
import type { AdmittedHost } from "../hosts/host-row.ts";
import { PLACES } from "../hosts/placements.ts";
import type { Services } from "../operation/context.ts";
import { createGroupCommit } from "../operation/group-commit.ts";
import { recordDrift } from "../recovery/drift.ts";
import { recordHolds } from "../recovery/holds.ts";
import { importHostLocks } from "../recovery/host-locks.ts";
import { createUnknownAccounts, unknownSentence } from "../recovery/unknown-accounts.ts";

/** How long drift is shown after it was found, since agents repair it at once. */
const DRIFT_SHOWN = DAY;
/** More drift of one host within an hour is shown, but not recorded. */
const MAX_DRIFT_RECORDS = 20;

export interface Reports {
  /**
   * Stores the report; the same report again changes nothing. Its applied position counts only if `knows` says that the log has
   * that record.
   */
  take(host: AdmittedHost, report: HostReport): Promise<void>;
}

export function createReports(services: Services, knows: (cursor: string) => Promise<boolean>): Reports {
  const storeAll = createGroupCommit((facts: readonly Facts[]) => storeFacts(services.autocommit, facts));
  const storeUnknown = createUnknownAccounts(services);

  /** The problem that the host has accounts which the database has lost. */
  async function unknownProblem(host: AdmittedHost, accounts: readonly AccountRef[]): Promise<readonly Problem[]> {
    if (accounts.length === 0 && !host.hasProblems) return [];
    const believed = await storeUnknown(host.id, accounts);
    return believed.length === 0 ? [] : [{ account: "", kind: "unknown", text: unknownSentence(believed) }];
  }

  return {
    take: async (host, report) => {
      await recordHolds(services, host, report.holds);
      await importHostLocks(services, host, report.locks);
      const unknown = await unknownProblem(host, report.unknown ?? []);
      const old = await withoutProfiles(services, host, report);
      await replaceProblems(services, host, [...report.problems, ...unknown, ...old]);
      const place = (await knows(report.cursor)) ? parseCursor(report.cursor) : undefined;
      // Last: its confirmation must not count before its problems are known.
      faultPoint("fleet: report taken, not stored");
      await storeAll(factsOf(host, report, { place, now: services.clock.now() }));
    },
  };
}

/** The problem that accounts are shut there because the agent's program is too old to hold what binds them. */
async function withoutProfiles(
  { autocommit }: Services,
  host: AdmittedHost,
  { profiles }: HostReport,
): Promise<readonly Problem[]> {
  if (host.profiles === undefined || profiles !== undefined) return [];
  const [row] = await autocommit.execute<{ bound: boolean }>(sql`select exists (
    select 1 from ${PLACES} p join users u on u.id = p.user_id where p.host_id = ${host.id} and (u.profile is not null
      or exists (select 1 from grants g join host_groups hg on hg.id = g.group_id and hg.profile is not null
        join host_group_members m on m.group_id = hg.id and m.host_id = ${host.id} where g.user_id = u.id))) as bound`);
  const text = "Its agent is too old to hold profiles: accounts that have one are shut there";
  return row?.bound ? [{ account: "", kind: "finding", text }] : [];
}

/** The part of a report that is stored with its host. */
interface Facts {
  readonly host: number;
  /** Null where the log has no such record. */
  readonly appliedId: number | null;
  readonly appliedSeal: string;
  readonly mode: string;
  readonly version: string;
  readonly sshHost: string;
  readonly sshPort: number;
  readonly hostKeys: string;
  readonly offset: number;
  /** Null of an agent that holds none. */
  readonly profiles: string | null;
}

/** Largest stored offset, in milliseconds: an agent may report any clock. */
const MOST_OFFSET = 1e15;

function factsOf(
  { id }: AdmittedHost,
  { mode, version, ssh, clock, profiles }: HostReport,
  { place, now }: { readonly place: ReturnType<typeof parseCursor>; readonly now: Date },
): Facts {
  const offset = new Date(clock).getTime() - now.getTime();
  return {
    host: id,
    appliedId: place?.id ?? null,
    appliedSeal: place?.seal ?? "",
    mode,
    version: blankControlCharacters(version),
    sshHost: blankControlCharacters(ssh.host),
    sshPort: ssh.port,
    hostKeys: JSON.stringify(ssh.host_keys),
    offset: Number.isFinite(offset) ? Math.max(-MOST_OFFSET, Math.min(MOST_OFFSET, offset)) : 0,
    profiles: profiles === undefined ? null : blankControlCharacters(JSON.stringify(profiles)),
  };
}

async function storeFacts(db: Database, facts: readonly Facts[]): Promise<readonly true[]> {
  await db.execute(sql`
    with r as (
      select * from json_to_recordset(${JSON.stringify(facts)}::text::json) as r(host int, "appliedId" bigint, "appliedSeal" text,
        mode text, version text, "sshHost" text, "sshPort" int, "hostKeys" text, "offset" bigint, profiles text)),
    was as materialized (select h.id from hosts h join r on r.host = h.id order by h.id for update of h)
    update hosts h set applied_id = coalesce(r."appliedId", h.applied_id),
      applied_seal = case when r."appliedId" is null then h.applied_seal else r."appliedSeal" end,
      mode = r.mode, version = r.version, ssh_host = r."sshHost", ssh_port = r."sshPort", host_keys = r."hostKeys",
      clock_offset_ms = r."offset", profiles = r.profiles
    from r join was on was.id = r.host where h.id = was.id`);
  return facts.map(() => true);
}

/** One of them, as it is stored. */
type Problem = Pick<typeof hostProblems.$inferSelect, "account" | "kind" | "text">;

/** The reported problems replace the earlier ones; a problem that stays keeps its age. Drift stays for a day. */
async function replaceProblems(services: Services, host: AdmittedHost, reported: readonly Problem[]): Promise<void> {
  const { db, clock } = services;
  if (!host.hasProblems && reported.length === 0) return;
  const stored = await db.select().from(hostProblems).where(eq(hostProblems.hostId, host.id));
  const now = clock.now();
  const problems = await onlyItsOwn(db, host.id, reported.map(cleaned));
  const wanted = new Map(problems.map((problem) => [keyOf(problem), problem]));
  const known = new Map(stored.map((problem) => [keyOf(problem), problem]));
  const added = [...wanted].flatMap(([key, problem]) => (known.has(key) ? [] : [problem]));
  const isOver = (problem: (typeof stored)[number]) =>
    problem.kind === "drift" ? problem.since <= shift(now, -DRIFT_SHOWN) : !wanted.has(keyOf(problem));
  const over = stored.filter(isOver).map(({ id }) => id);
  if (added.length === 0 && over.length === 0) return;
  const drift = added.filter(({ kind }) => kind === "drift");
  const recent = stored.filter(({ kind, since }) => kind === "drift" && since > shift(now, -HOUR)).length;
  // Before the rows: a crash in between repeats a record, but loses none.
  for (const problem of drift.slice(0, Math.max(0, MAX_DRIFT_RECORDS - recent))) {
    await recordDrift(services, host, problem);
  }
  const room = added
    .filter(({ kind }) => kind !== "drift")
    .concat(drift.slice(0, Math.max(0, MAX_DRIFT_ROWS - recent)));
  await db.transaction(async (tx) => {
    if (over.length > 0)
      await tx.delete(hostProblems).where(and(eq(hostProblems.hostId, host.id), inArray(hostProblems.id, over)));
    if (room.length > 0)
      await tx.insert(hostProblems).values(room.map((one) => ({ ...one, hostId: host.id, since: now })));
  });
}

/** Drift of one host that is stored at most. */
const MAX_DRIFT_ROWS = 200;

function cleaned({ account, kind, text }: Problem): Problem {
  return { account, kind, text: blankControlCharacters(text.toWellFormed()) };
}

function keyOf({ account, kind, text }: Problem): string {
  return JSON.stringify([account, kind, text]);
}

/** Problems of the host itself, and of accounts that it has or had: it cannot report others. */
async function onlyItsOwn(
  db: Database | Transaction,
  host: number,
  problems: readonly Problem[],
): Promise<readonly Problem[]> {
  const named = [...new Set(problems.flatMap(({ account }) => (account === "" ? [] : [account])))];
  if (named.length === 0) return problems;
  const own = await accountsThere(db, host, named);
  return problems.filter(({ account }) => account === "" || own.has(account));
}
