/**
 * Ends a company: nobody of it has access any more. That it is ending is stored first, and nobody of it is given access from then on; then each
 * user is disabled by a closing of their own, by whoever asked and, after a crash, by the minute's job in their name.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { and, asc, count, eq, isNull, ne, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { closings, users } from "../../store/schema.ts";
import { type CompanyRow, companies } from "../../store/schema-companies.ts";
import { disableOnRecord } from "../accounts/access.ts";
import { lockUserIfStored } from "../accounts/find-user.ts";
import type { Confirmation } from "../hosts/confirmation.ts";
import { audited, auditedClosing } from "../operation/audited.ts";
import type { Context, Services } from "../operation/context.ts";
import { type Actor, storedActor } from "../operation/entry.ts";
import { onward } from "../operation/permission.ts";
import { type Company, entryOf, getCompany, requireCompany, requireLocked } from "./companies.ts";
import { forEachUser, REASON } from "./each-user.ts";
import { hostsOfEnding } from "./ending-hosts.ts";

/** How far the end of a company is. */
export interface Ending {
  readonly status: CompanyRow["status"];
  readonly users: {
    readonly total: number;
    /** Users without access, as it is stored. */
    readonly closed: number;
    /** Users whose access is not completely taken away. */
    readonly owed: number;
  };
  /** From then on it is true on every host; null where that is not known: a user is owed, or a host without a lease has not confirmed. */
  readonly effectiveBy: Date | null;
  /** Undefined where no user has an account on a host with an agent. */
  readonly hosts: Confirmation | undefined;
}

/**
 * Ends the company, or goes on with that; returns how far it is once everybody is disabled, or after `patience` milliseconds: the rest goes on.
 * Throws `not_found`. Nobody of the company is given access from the moment that this is stored.
 */
export async function endCompany(context: Context, id: number, patience = Number.POSITIVE_INFINITY): Promise<Ending> {
  const by = await audited(context, entryOf("company.end", id), async (op) => {
    const company = await requireLocked(op.tx, id);
    op.about({ detail: { name: company.name } });
    if (company.status !== "active") {
      op.record({ unneeded: true });
      return askerOf(company);
    }
    const { actor, clock } = op.context;
    const asked = { askedByType: actor.type, askedBy: actor.name, askedByOwner: actor.owner ?? "" };
    const set = { status: "ending" as const, ...asked, updatedAt: clock.now() };
    await op.tx.update(companies).set(set).where(eq(companies.id, id));
    op.record({ detail: { users: await countActive(op.tx, id) } });
    return actor;
  });
  const work = closeUsers({ ...onward(context), actor: by }, id);
  await (Number.isFinite(patience) ? Promise.race([work, sleep(patience)]) : work);
  return await readEnding(context, id);
}

/** Goes on with every company that is being ended; a failure is logged, and tried again in the next run. */
export async function finishEndings(services: Services, signal?: AbortSignal): Promise<void> {
  const ending = await services.db.select().from(companies).where(eq(companies.status, "ending")).orderBy(companies.id);
  for (const company of ending) {
    if (signal?.aborted) return;
    await closeUsers({ ...services, actor: askerOf(company), requestId: "" }, company.id, signal);
  }
}

/** How far it is; throws `not_found`. */
export async function readEnding({ db, clock }: Pick<Context, "db" | "clock">, id: number): Promise<Ending> {
  return await db.transaction(
    async (tx) => {
      const { status } = await requireCompany(tx, id);
      const [row] = await tx.select({ total: count() }).from(users).where(eq(users.companyId, id));
      const total = row?.total ?? 0;
      const active = await countActive(tx, id);
      const owed = await countOwed(tx, id);
      const now = clock.now();
      const hosts = await hostsOfEnding(tx, id, now);
      const effectiveBy = active + owed > 0 ? null : hosts === undefined ? now : hosts.effectiveBy;
      return { status, users: { total, closed: total - active, owed }, effectiveBy, hosts };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/**
 * Lets users of the company be given access again; nobody has any by that. Throws `not_found`, and `conflict` while a user of it is still to
 * be disabled.
 */
export async function resumeCompany(context: Context, id: number): Promise<Company> {
  await audited(context, entryOf("company.resume", id), async (op) => {
    const { name, status } = await requireLocked(op.tx, id);
    op.about({ detail: { name } });
    if (status === "active") return op.record({ unneeded: true });
    if (status === "ending" && (await countActive(op.tx, id)) > 0) {
      throw new UamError("conflict", `${name} is just being ended; resume it once nobody of it is active`);
    }
    const set = { status: "active" as const, updatedAt: op.context.clock.now() };
    await op.tx.update(companies).set(set).where(eq(companies.id, id));
  });
  return await getCompany(context, id);
}

/** The names of those who would lose access, in the order in which they were created. */
export async function activeUsers(db: Database | Transaction, companyId: number) {
  return await db
    .select({ id: users.id, username: users.username })
    .from(users)
    .where(isActive(companyId))
    .orderBy(asc(users.id));
}

/** Never throws: what fails is logged, and the minute's job goes on. */
async function closeUsers(context: Context, companyId: number, signal?: AbortSignal): Promise<void> {
  const { db, log, requestId } = context;
  try {
    await forEachUser(context, {
      companyId,
      users: await activeUsers(db, companyId),
      each: ({ id }) => closeUser(context, companyId, id),
      failure: "a user of a company that is ended is not completely without access yet; this will be retried",
      signal,
    });
    await settle(context, companyId);
  } catch (error) {
    log.error("a company could not be ended yet; this will be retried", { error, companyId, requestId });
  }
}

/** Also where the account on the host is missing, or is not ours. */
async function closeUser(context: Context, companyId: number, userId: number): Promise<void> {
  const entry = { action: "user.disable", resourceId: String(userId), subjectId: userId } as const;
  await auditedClosing(context, { ...entry, detail: { reason: REASON } }, async (op) => {
    const user = await lockUserIfStored(op.tx, userId);
    if (user === undefined || user.companyId !== companyId || user.disabledAt !== null || user.status === "expired") {
      return op.record({ unneeded: true });
    }
    op.about({ detail: { username: user.username } });
    await disableOnRecord(op, user, { reason: REASON });
  });
}

/** It has ended once nobody of it is active and nothing is owed. */
async function settle({ db, clock }: Context, id: number): Promise<void> {
  await db.transaction(async (tx) => {
    const { status } = await requireLocked(tx, id);
    if (status !== "ending" || (await countActive(tx, id)) + (await countOwed(tx, id)) > 0) return;
    await tx.update(companies).set({ status: "ended", updatedAt: clock.now() }).where(eq(companies.id, id));
  });
}

async function countActive(db: Database | Transaction, companyId: number): Promise<number> {
  const [row] = await db.select({ active: count() }).from(users).where(isActive(companyId));
  return row?.active ?? 0;
}

function isActive(companyId: number) {
  return and(eq(users.companyId, companyId), isNull(users.disabledAt), ne(users.status, "expired"));
}

async function countOwed(db: Database | Transaction, companyId: number): Promise<number> {
  const owed = sql`exists (select 1 from ${closings} where ${closings.userId} = ${users.id})`;
  const [row] = await db
    .select({ owed: count() })
    .from(users)
    .where(and(eq(users.companyId, companyId), owed));
  return row?.owed ?? 0;
}

function askerOf({ askedByType: type, askedBy: name, askedByOwner: owner }: CompanyRow): Actor {
  return storedActor({ type, name, owner });
}
