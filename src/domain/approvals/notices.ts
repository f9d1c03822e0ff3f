/** Tells the administrators about applications and requests for more time: the first at once, the rest gathered. */

import { and, asc, count, eq, gt, max, ne, not, type SQL, sql } from "drizzle-orm";
import { type Clock, MINUTE } from "../../shared/time/clock.ts";
import type { Transaction } from "../../store/client.ts";
import { type ApprovalRow, applicationNotice, approvals } from "../../store/schema.ts";
import { accessRequested } from "../mail/access-messages.ts";
import { tellAdministrators } from "../mail/administrators.ts";
import type { Letter } from "../mail/letter.ts";
import { applicationReceived, applicationsReceived } from "../mail/messages.ts";
import { extensionRequested, requestsReceived } from "../mail/request-messages.ts";
import type { Policy, Services, Site } from "../operation/context.ts";

/** The least time between two mails about applications. */
const BETWEEN_MAILS = 10 * MINUTE;
/** How many applications one mail shows. */
const SHOWN = 20;

/** The newest application that the last mail to the administrators covered. */
export interface Notice {
  readonly applicationId: number;
  readonly mailedAt: Date | null;
}

/** Where mail about applications is queued: in an operation, or in a transaction of a job. */
export interface Noticing {
  readonly tx: Transaction;
  readonly context: { readonly clock: Clock; readonly policy: Policy };
}

/** The notice, locked until the transaction ends: applications are stored and announced one after the other. */
export async function lockNotice(tx: Transaction): Promise<Notice> {
  await tx.insert(applicationNotice).values({ one: 1 }).onConflictDoNothing();
  const [notice] = await tx.select().from(applicationNotice).for("update");
  if (notice === undefined) throw new Error("the notice of applications was stored and is not there");
  return notice;
}

/**
 * Queues one mail to each administrator about the pending applications that are not covered yet, unless the last mail is
 * less than ten minutes old: then a later call does it.
 */
export async function tellOfApplications(op: Noticing, notice: Notice): Promise<void> {
  const { tx, context } = op;
  const now = context.clock.now();
  const waits = (notice.mailedAt?.getTime() ?? Number.NEGATIVE_INFINITY) + BETWEEN_MAILS - now.getTime();
  // A wait of more than BETWEEN_MAILS means that the clock was set back.
  if (waits > 0 && waits <= BETWEEN_MAILS) return;
  // Whether access on request is allowed is the sponsor's to say, where there is one.
  const isSponsors = and(eq(approvals.kind, "access_request"), ne(approvals.sponsorEmail, ""));
  const isUntold = and(eq(approvals.status, "pending"), gt(approvals.id, notice.applicationId));
  const untold = and(isUntold, not(isSponsors as SQL));
  const [all] = await tx
    .select({
      total: count(),
      extensions: sql`count(*) filter (where ${approvals.kind} = 'extension')`.mapWith(Number),
      accesses: sql`count(*) filter (where ${approvals.kind} = 'access_request')`.mapWith(Number),
      newest: max(approvals.id),
    })
    .from(approvals)
    .where(untold);
  if (all === undefined || all.newest === null) return;
  const items = await tx.select().from(approvals).where(untold).orderBy(asc(approvals.id)).limit(SHOWN);
  const message = noticeOf(context.policy.site, { ...all, items });
  await tellAdministrators(op, message, { about: "applications", occasion: `applications:${all.newest}` });
  await tx.update(applicationNotice).set({ applicationId: all.newest, mailedAt: now });
}

interface Untold {
  readonly total: number;
  /** How many of them ask for more time, and how many for access on request. */
  readonly extensions: number;
  readonly accesses: number;
  /** The first of them. */
  readonly items: readonly ApprovalRow[];
}

function noticeOf(site: Site, { total, extensions, accesses, items }: Untold): Letter {
  const [only] = items;
  if (total === 1 && only !== undefined) {
    const write = { access: applicationReceived, extension: extensionRequested, access_request: accessRequested };
    return write[only.kind](site, only);
  }
  return extensions + accesses === 0
    ? applicationsReceived(site, { total, items })
    : requestsReceived(site, { total, extensions, accesses, items });
}

/** Tells the administrators about applications that came within ten minutes of a mail, once those minutes are over. */
export async function tellOfWaitingApplications(services: Services): Promise<void> {
  await services.db.transaction(async (tx) => {
    await tellOfApplications({ tx, context: services }, await lockNotice(tx));
  });
}
