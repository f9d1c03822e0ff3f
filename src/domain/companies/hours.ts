/** The hours of a company, which its users carry with their own: they are stored with the company first, and then carried to each of them. */

import { and, asc, eq, isNotNull, lte, or, type SQL, sql } from "drizzle-orm";
import { formatHours } from "../../shared/hours/text.ts";
import { counted, namedUpTo } from "../../shared/text/counted.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { users } from "../../store/schema.ts";
import type { CompanyRow } from "../../store/schema-companies.ts";
import { storeUser } from "../accounts/access.ts";
import { accessAt, hoursOf } from "../accounts/access-state.ts";
import { refOf } from "../accounts/account.ts";
import { holdCompanyOf } from "../accounts/company-limits.ts";
import { hasFewerHours } from "../accounts/fewer-hours.ts";
import { lockUserIfStored, selectUsersWhere, type User } from "../accounts/find-user.ts";
import { followHours } from "../accounts/hours.ts";
import { noteFleetChange } from "../accounts/remote-changes.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { forEachUser, REASON } from "./each-user.ts";

/** Names in a sentence. */
const MOST = 20;

/** Whether somebody of the company does not carry its hours yet. */
export async function carriesOthers(db: Database | Transaction, company: CompanyRow): Promise<boolean> {
  return (await db.$count(users, carryingOthers(company))) > 0;
}

/**
 * Gives everybody of the company its hours, and has the host follow them: who is outside of them is shut at once, who is inside is opened.
 * Where the host cannot, it stays due, and is done with what else is due each minute.
 */
export async function followCompanyHours(context: Context, company: CompanyRow, signal?: AbortSignal): Promise<void> {
  const { db, clock } = context;
  const begun = and(eq(users.companyId, company.id), isNotNull(users.hoursDueAt), lte(users.hoursDueAt, clock.now()));
  await forEachUser(context, {
    companyId: company.id,
    users: await db
      .select({ id: users.id })
      .from(users)
      .where(or(carryingOthers(company), begun))
      .orderBy(asc(users.id)),
    each: async ({ id }) => {
      await carry(context, id);
      await followHours(context, id);
    },
    failure: "the host does not follow the hours of a user's company yet; this will be retried",
    signal,
  });
}

/**
 * The user before the company, as in every operation: two who wait the other way round would wait for each other. On record, since that is
 * what further hosts follow.
 */
async function carry(context: Context, userId: number): Promise<void> {
  const about = { resourceId: String(userId), subjectId: userId, detail: { reason: REASON } };
  await audited(context, { action: "user.update", ...about }, async (op) => {
    const user = await lockUserIfStored(op.tx, userId);
    const company = user && (await holdCompanyOf(op.tx, user));
    if (user === undefined || company === undefined || company.hours === user.companyHours)
      return op.record({ unneeded: true });
    const detail = { company_hours: company.hours ?? "", old_company_hours: user.companyHours ?? "" };
    op.record({ detail: { username: user.username, ...detail } });
    const now = context.clock.now();
    const carried = await storeUser(op, user, { companyHours: company.hours, hoursDueAt: now });
    if (hasFewerHours(user, carried, now)) await noteFleetChange(op, carried);
  });
}

/** Who would be shut at once by other hours of the company. */
export async function shutByHours(
  db: Database | Transaction,
  { id, hours }: Pick<CompanyRow, "id" | "hours">,
  now: Date,
): Promise<readonly User[]> {
  const all = await selectUsersWhere(db, eq(users.companyId, id));
  const isOpen = (user: User) => accessAt(user, now).access === "open";
  return all.filter((user) => isOpen(user) && !isOpen({ ...user, companyHours: hours }));
}

/** What other hours do, as sentences: in general, whom they shut at once, and who of these is logged in. */
export async function hoursEffects(
  { host }: Pick<Context, "host">,
  { name, hours }: Pick<CompanyRow, "name" | "hours">,
  shut: readonly User[],
): Promise<readonly string[]> {
  const limit = hoursOf({ hours });
  const general =
    limit === null
      ? `Access of users of ${name} is open in their own hours.`
      : `Access of users of ${name} is open only within ${formatHours(limit)}, and within their own hours.`;
  if (shut.length === 0) return [general];
  const names = namedUpTo(
    MOST,
    shut.map(({ username }) => username),
  );
  const now = `${counted(shut.length, "user")} of ${name} ${shut.length === 1 ? "is" : "are"} outside of them now, and cannot log in until they begin: ${names}.`;
  const open = (await host.countSessions(shut.filter(({ local }) => local).map(refOf))) ?? new Map<string, number>();
  const sessions = open.values().reduce((sum, count) => sum + count, 0);
  const ending = shut.every(({ hoursEnd }) => hoursEnd === "logins") ? 0 : sessions;
  return [general, now, ...(ending === 0 ? [] : [`SSH sessions of theirs that end at once: ${ending}.`])];
}

function carryingOthers({ id, hours }: Pick<CompanyRow, "id" | "hours">): SQL | undefined {
  return and(eq(users.companyId, id), sql`${users.companyHours} is distinct from ${hours}`);
}
