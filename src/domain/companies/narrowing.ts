/**
 * Brings the users of a company within limits that have become narrower. The limits are stored first, and nobody is given more from then on;
 * then what each user has beyond them is taken away by closings of their own, by whoever asked and, after a crash, by the minute's job in
 * their name.
 */

import { and, eq, isNotNull } from "drizzle-orm";
import type { AuditAction } from "../../shared/product/audit-actions.ts";
import { type CompanyRow, companies } from "../../store/schema-companies.ts";
import { disableOnRecord, storeUser } from "../accounts/access.ts";
import { closingsOf } from "../accounts/closings.ts";
import { holdCompanyOf, lockCompany } from "../accounts/company-limits.ts";
import { lockUserIfStored, type User } from "../accounts/find-user.ts";
import { narrowAccess, narrowingOwed, networkDetail } from "../accounts/narrowing.ts";
import { shortenOnRecord } from "../accounts/shortening.ts";
import { withdrawHosts } from "../hosts/grants.ts";
import { auditedClosing } from "../operation/audited.ts";
import type { ClosingOperation, Context, Services } from "../operation/context.ts";
import { type Actor, storedActor } from "../operation/entry.ts";
import { isBeingShortened } from "../users/changeable.ts";
import { forEachUser, REASON } from "./each-user.ts";
import { carriesOthers, followCompanyHours } from "./hours.ts";
import { findLoss, findLosses, type Loss } from "./losses.ts";

/** Takes from the users of the company what they have beyond its limits. Never throws: what fails is logged, and the minute's job goes on. */
export async function narrowUsers(context: Context, companyId: number, signal?: AbortSignal): Promise<void> {
  const { db, clock, log, requestId } = context;
  try {
    const company = await findNarrowing(context, companyId);
    if (company === undefined) return;
    await followCompanyHours(context, company, signal);
    await forEachUser(context, {
      companyId,
      users: await findLosses(db, { company, lastEnd: company.narrowingEnd, now: clock.now() }),
      each: (loss) => narrowUser(context, companyId, loss),
      failure: "a user of a company that is narrower is not within it yet; this will be retried",
      signal,
    });
    await settle(context, companyId);
  } catch (error) {
    log.error("users could not be brought within their company yet; this will be retried", {
      ...{ error, companyId, requestId },
    });
  }
}

/** Goes on with every company whose users are being narrowed; a failure is logged, and tried again in the next run. */
export async function finishNarrowings(services: Services, signal?: AbortSignal): Promise<void> {
  const { db } = services;
  const begun = await db.select().from(companies).where(isNotNull(companies.narrowingSince)).orderBy(companies.id);
  for (const company of begun) {
    if (signal?.aborted) return;
    await narrowUsers({ ...services, actor: narrowerOf(company), requestId: "" }, company.id, signal);
  }
}

async function findNarrowing({ db }: Context, companyId: number): Promise<CompanyRow | undefined> {
  const begun = and(eq(companies.id, companyId), isNotNull(companies.narrowingSince));
  return (await db.select().from(companies).where(begun))[0];
}

/** Each part by itself: what one leaves undone keeps none of the others back. Throws the first failure. */
async function narrowUser(context: Context, companyId: number, loss: Loss): Promise<void> {
  const of = { companyId, userId: loss.id };
  const parts = [
    ...(loss.disabledFor === undefined ? [] : [() => disable(context, of)]),
    ...(loss.networks === undefined ? [] : [() => narrow(context, of)]),
    ...(loss.hosts ? [() => withdrawHosts(context, loss.id, REASON)] : []),
    ...(loss.end === undefined ? [] : [() => shorten(context, of)]),
  ];
  const failures: unknown[] = [];
  for (const part of parts) await part().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

interface OfCompany {
  readonly companyId: number;
  readonly userId: number;
}

/** Also where the account on the host is missing, or is not ours. */
async function disable(context: Context, of: OfCompany): Promise<void> {
  await closing(context, of, "user.disable", async (op, user, loss) => {
    if (loss.disabledFor === undefined) return op.record({ unneeded: true });
    await disableOnRecord(op, user, { reason: REASON });
  });
}

async function narrow(context: Context, of: OfCompany): Promise<void> {
  await closing(context, of, "user.update", async (op, user, { networks }) => {
    if (networks === undefined) return op.record({ unneeded: true });
    const owed = await narrowAccess(op, { user, key: undefined, networks }, "user.update");
    await storeUser(op, user, { sourceNetworks: [...networks] });
    op.record({ detail: networkDetail(user.sourceNetworks, networks) });
    if (owed.length > 0) op.refuse(narrowingOwed(user, owed));
  });
}

async function shorten(context: Context, of: OfCompany): Promise<void> {
  await closing(context, of, "user.shorten", async (op, user, { end }) => {
    if (end === undefined) return op.record({ unneeded: true });
    // Finished first, by the job that records it.
    if (isBeingShortened(await closingsOf(op.tx, user.id), end)) return op.record({ unneeded: true });
    await shortenOnRecord(op, user, { expireAt: end, reason: REASON });
  });
}

/** Runs a closing with what the user loses now, under their lock; it is not needed if that is nothing any more. */
async function closing(
  context: Context,
  { companyId, userId }: OfCompany,
  action: AuditAction & ("user.disable" | "user.update" | "user.shorten"),
  work: (op: ClosingOperation, user: User, loss: Loss) => Promise<void>,
): Promise<void> {
  const entry = { action, resourceId: String(userId), subjectId: userId, detail: { reason: REASON } } as const;
  await auditedClosing(context, entry, async (op) => {
    const user = await lockUserIfStored(op.tx, userId);
    if (user === undefined || user.companyId !== companyId) return op.record({ unneeded: true });
    op.about({ detail: { username: user.username } });
    const company = await holdCompanyOf(op.tx, user);
    if (company === undefined || company.narrowingSince === null) return op.record({ unneeded: true });
    const limits = { company, lastEnd: company.narrowingEnd, now: context.clock.now() };
    const loss = await findLoss(op.tx, limits, userId);
    if (loss === undefined) return op.record({ unneeded: true });
    await work(op, user, loss);
  });
}

/** Done once nobody lies outside, as it is stored; what a host still owes is finished with the closings. */
async function settle({ db, clock }: Context, id: number): Promise<void> {
  await db.transaction(async (tx) => {
    const company = await lockCompany(tx, id);
    if (company === undefined || company.narrowingSince === null) return;
    const limits = { company, lastEnd: company.narrowingEnd, now: clock.now() };
    if ((await findLosses(tx, limits)).length > 0 || (await carriesOthers(tx, company))) return;
    await tx.update(companies).set({ narrowingSince: null, narrowingEnd: null }).where(eq(companies.id, id));
  });
}

function narrowerOf({ narrowingByType: type, narrowingBy: name, narrowingByOwner: owner }: CompanyRow): Actor {
  return storedActor({ type, name, owner });
}
