/** What needs an administrator today: accounts that their owners shut, work that is outstanding, what fails, and requests. */

import { and, desc, eq, gte, isNotNull, isNull, min, or, sql } from "drizzle-orm";
import { DAY, shift } from "../../shared/time/clock.ts";
import type { Database } from "../../store/client.ts";
import { approvals, closings, outbox, users } from "../../store/schema.ts";
import { audit } from "../../store/schema-audit.ts";
import { failingReceivers, type ReceiverState } from "../events/receivers.ts";
import { countHostProblems } from "../hosts/problems.ts";
import type { Context } from "../operation/context.ts";
import { type WaitingReview, waitingReviews } from "../reviews/waiting.ts";
import { type LostSponsor, lostSponsors } from "../sponsors/sponsors.ts";
import { type OldBackup, oldBackup } from "./backups.ts";

export interface Attention {
  /** Applications and requests for more time that wait for a decision. */
  readonly requests: number;
  readonly incidents: { readonly total: number; readonly items: readonly Incident[] };
  /** How often access is still to be taken away. */
  readonly owed: number;
  /** How many problems hosts have. */
  readonly hosts: number;
  /** Receivers of audit records whose last attempt failed. */
  readonly receivers: readonly ReceiverState[];
  /** Sponsors whom no mail reaches. */
  readonly sponsors: readonly LostSponsor[];
  /** Reviews with users who wait for owners and operators. */
  readonly reviews: readonly WaitingReview[];
  /** Undefined while all mail is accepted. */
  readonly mail: FailingMail | undefined;
  /** Nobody gets mail, although people have accounts here: none is set up. */
  readonly mailUnsent: boolean;
  /** Undefined while the newest backup is young enough, or none was ever made. */
  readonly backup: OldBackup | undefined;
}

/** A user who shut their own account with "This was not me", and is still disabled by that. */
export interface Incident {
  readonly userId: number;
  readonly username: string;
  readonly at: Date;
}

export interface FailingMail {
  /** Mails that failed at least once, and are tried again. */
  readonly waiting: number;
  /** Mails of the last days that nobody got: given up, or useless by the time that they could have been sent. */
  readonly lost: number;
  /** When the oldest of them was written. */
  readonly since: Date;
  /** The newest error. */
  readonly problem: string;
}

/** More are counted only. */
const INCIDENTS_SHOWN = 20;
/** Nobody can confirm that they have seen a lost mail, so it is shown for this long. */
const LOST_SHOWN = 7 * DAY;

/** Everything that waits for somebody. `startedAt` is since when the service could hear from hosts. */
export async function readAttention(context: Context, startedAt?: Date): Promise<Attention> {
  const { db } = context;
  const [counts] = await db
    .select({
      requests: sql`(select count(*) from ${approvals} where ${eq(approvals.status, "pending")})`.mapWith(Number),
      owed: sql`(select count(*) from ${closings})`.mapWith(Number),
    })
    .from(sql`(select) one`);
  return {
    ...{ requests: counts?.requests ?? 0, owed: counts?.owed ?? 0 },
    incidents: await readIncidents(db),
    hosts: await countHostProblems(context, startedAt),
    receivers: await failingReceivers(context),
    sponsors: await lostSponsors(context),
    reviews: await waitingReviews(context),
    mail: await readFailingMail(context),
    mailUnsent: !context.policy.sendsMail && context.host.mode !== "dry-run",
    backup: await oldBackup(context),
  };
}

/** Only a lock that succeeded, on the host or not, records a status. Records about one action are found by its number. */
async function readIncidents(db: Database): Promise<Attention["incidents"]> {
  const isLock = and(
    sql`hashtextextended(${audit.action}, 0) = hashtextextended('user.lock', 0)`,
    eq(audit.action, "user.lock"),
    sql`(${audit.detail}::json ->> 'status') is not null`,
  );
  const rows = await db
    .select({
      userId: users.id,
      username: users.username,
      at: users.disabledAt,
      total: sql`count(*) over ()`.mapWith(Number),
    })
    .from(audit)
    .innerJoin(users, eq(users.id, audit.subjectId))
    .where(and(isLock, isNotNull(users.disabledAt), gte(audit.createdAt, users.disabledAt)))
    .orderBy(desc(audit.id))
    .limit(INCIDENTS_SHOWN)
    .prepare("read_incidents")
    .execute();
  const items = rows.flatMap(({ userId, username, at }) => (at === null ? [] : [{ userId, username, at }]));
  return { total: rows[0]?.total ?? 0, items };
}

/** By the index of failed mail, whose conditions therefore stand in the statement itself. */
async function readFailingMail({ db, clock }: Pick<Context, "db" | "clock">): Promise<FailingMail | undefined> {
  const isFailed = sql`${outbox.lastError} <> '' and ${outbox.status} <> 'sent'`;
  const isShown = or(isNull(outbox.finishedAt), gte(outbox.finishedAt, shift(clock.now(), -LOST_SHOWN)));
  const [row] = await db
    .select({
      waiting: sql`count(*) filter (where ${isNull(outbox.finishedAt)})`.mapWith(Number),
      lost: sql`count(*) filter (where ${isNotNull(outbox.finishedAt)})`.mapWith(Number),
      since: min(outbox.createdAt),
      // Of mail that is still tried, if there is any: that is what can be put right.
      problem: sql<string>`(array_agg(${outbox.lastError} order by ${outbox.finishedAt} desc nulls first, ${outbox.id} desc))[1]`,
    })
    .from(outbox)
    .where(and(isFailed, isShown));
  if (row === undefined || row.since === null) return undefined;
  return { ...row, since: row.since };
}
