/** The addresses that answer for somebody: how many they answer for, when they last answered, and whether mail reaches them. */

import { type SQL, sql } from "drizzle-orm";
import { offsetOf, type Page, type Paged } from "../../shared/product/page.ts";
import { users } from "../../store/schema.ts";
import type { Context } from "../operation/context.ts";

/** Somebody who answers for users. */
export interface Sponsor {
  readonly email: string;
  /** Their people, whatever their status, also by a company. */
  readonly users: number;
  /** When they last answered anything; null where that is not known. */
  readonly lastAnswerAt: Date | null;
  /** Whether the newest mail to them was refused for good. */
  readonly undeliverable: boolean;
}

/** A sponsor whom no mail reaches. */
export interface LostSponsor {
  readonly email: string;
  readonly users: number;
  readonly since: Date;
  /** What the mail server said. */
  readonly problem: string;
}

/** Every address with the number of its people. A company's counts for those without one of their own, but never for itself. */
const theirs = sql`(select email, sum(n)::int as users from (
    select sponsor_email as email, count(*) as n from users where sponsor_email <> '' group by 1
    union all
    select lower(c.sponsor_email), count(u.id) from companies c
      left join users u on u.company_id = c.id and u.sponsor_email = '' and lower(u.email) <> lower(c.sponsor_email)
      where c.sponsor_email <> '' group by 1) each group by email) theirs`;

/** In place of an address, for users whom nobody answers for. */
const NOBODY = "none";

/** A condition on users: that this address answers for them, themselves or for their company; `none`: that nobody does. */
export function hasSponsor(sponsor: string): SQL {
  const email = sponsor.trim().toLowerCase();
  const isNone = sql`${users.sponsorEmail} = ''`;
  const { companyId, email: own } = users;
  if (email === NOBODY)
    return sql`(${isNone} and not exists (select from companies c where c.id = ${companyId} and c.sponsor_email <> '' and lower(c.sponsor_email) <> lower(${own})))`;
  return sql`(${users.sponsorEmail} = ${email} or ${isNone} and lower(${own}) <> ${email}
    and ${companyId} in (select c.id from companies c where lower(c.sponsor_email) = ${email}))`;
}

/** The newest mail to each that was sent or given up. */
const newest = sql`(select distinct on (recipient) recipient, status, last_error, finished_at from outbox
    where dedupe_key like 'sponsor %' and status in ('sent', 'dead') order by recipient, id desc) newest`;

/** One page of sponsors, by address. */
export async function listSponsors({ db }: Pick<Context, "db">, page: Page): Promise<Paged<Sponsor>> {
  const rows = await db.execute<{
    total: string;
    email: string | null;
    users: number;
    last: string | null;
    lost: boolean;
  }>(sql`
    select (select count(*) from ${theirs}) as total, p.*
    from (select 1) one left join lateral (
      select theirs.email, theirs.users,
        (select max(q.answered_at) from questions q where q.email = theirs.email) as last,
        coalesce((select newest.status = 'dead' from ${newest} where newest.recipient = theirs.email), false) as lost
      from ${theirs} order by theirs.email limit ${page.pageSize} offset ${offsetOf(page)}) p on true
    order by p.email`);
  const items = rows.flatMap(({ email, users, last, lost }) =>
    email === null ? [] : [{ email, users, lastAnswerAt: last === null ? null : new Date(last), undeliverable: lost }],
  );
  return { total: Number(rows[0]?.total ?? 0), items };
}

/** Sponsors whom no mail reaches: nobody asks them anything, and their people's access ends without them. */
export async function lostSponsors({ db }: Pick<Context, "db">): Promise<readonly LostSponsor[]> {
  const rows = await db.execute<{ email: string; users: number; since: string; problem: string }>(sql`
    select theirs.email, theirs.users, newest.finished_at as since, newest.last_error as problem
    from ${newest} join ${theirs} on theirs.email = newest.recipient where newest.status = 'dead' order by theirs.email`);
  return rows.map(({ email, users, since, problem }) => ({ email, users, since: new Date(since), problem }));
}
