/** Pages of external users. */

import { and, count, eq, getTableColumns, inArray, isNotNull, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import { MAX_SEARCH } from "../../shared/product/limits.ts";
import { offsetOf, type Page, type Paged } from "../../shared/product/page.ts";
import type { AccessState } from "../../shared/product/statuses.ts";
import { DEFAULT_SORT, type UserSort } from "../../shared/product/user-sorts.ts";
import { parseText } from "../../shared/text/text.ts";
import { shift } from "../../shared/time/clock.ts";
import { parseDuration } from "../../shared/time/duration.ts";
import { type Database, oncePerDatabase, type Transaction } from "../../store/client.ts";
import { isAnyOf } from "../../store/conditions.ts";
import { jsonRows } from "../../store/json-rows.ts";
import { sshKeys, type UserRow, users } from "../../store/schema.ts";
import { hasStatusAt } from "../accounts/find-user.ts";
import { haveAccess } from "../accounts/have-access.ts";
import { haveTerms } from "../accounts/terms.ts";
import type { Context } from "../operation/context.ts";
import { hasSponsor } from "../sponsors/sponsors.ts";
import { opposite, orderOf } from "./order.ts";
import { holds, partsOf } from "./search.ts";

export interface UserFilter {
  readonly status?: UserRow["status"] | undefined;
  /** Only those whose access is so now. */
  readonly access?: AccessState | undefined;
  readonly supervisor?: string | undefined;
  /** Only those who were not yet told of their account. */
  readonly welcome?: "pending" | undefined;
  readonly companyId?: number | undefined;
  /** The address of who answers for them, themselves or for their company; `none` for those for whom nobody does. */
  readonly sponsor?: string | undefined;
  /** Only those who have not accepted the terms of use; `overdue`: though they were asked two weeks ago. */
  readonly terms?: "pending" | "overdue" | undefined;
  /** A part of the username, the host account, the e-mail, the full name, the supervisor or the purpose, in any case. */
  readonly search?: string | undefined;
  /** Only those who never logged in, to the service or by SSH, as far as it knows. */
  readonly lastUsed?: "never" | undefined;
  /** Only those who did not within this time, such as `30d`, and are no newer than that. */
  readonly silentFor?: string | undefined;
  readonly sort?: UserSort | undefined;
}

/** A user with what is known of their keys. */
export type ListedUser = UserRow & {
  readonly activeKeys: number;
  /** The last login with any key, revoked ones included, that sshd's log on the service's own host proves; null where none is known. */
  readonly lastKeyUseAt: Date | null;
};

const ofTheirKeys = sql`from ${sshKeys} where ${sshKeys.userId} = ${users.id}`;
const activeKeys = sql<number>`(select count(*)::int ${ofTheirKeys} and ${sshKeys.status} = 'active')`;
const lastKeyUseAt = sql`(select max(${sshKeys.lastUsedAt}) ${ofTheirKeys})`.mapWith(sshKeys.lastUsedAt);

/**
 * One page of users, newest first unless sorted otherwise. Throws `invalid` for a search that no field could hold, and for a time that is
 * none.
 */
export async function listUsers(context: Context, filter: UserFilter, page: Page): Promise<Paged<ListedUser>> {
  const now = context.clock.now();
  const { search, silentSince } = parsed(filter, now);
  const { sort = DEFAULT_SORT } = filter;
  const { terms, access: wanted, sponsor } = filter;
  const isNear = terms === undefined && wanted === undefined && sponsor === undefined;
  if (search === "" && isNear && offsetOf(page) <= NEAR)
    return await readNear(context, { ...filter, silentSince, sort }, page);
  const parts = partsOf(search);
  const access = await accessIn(context, filter, now);
  const where = conditionOf(context, filter, { search, parts, silentSince, access, now });
  const find = search === "" ? findInOrder : findMatching;
  // One snapshot, so that `total` and `items` agree.
  return await context.db.transaction(
    async (tx) => {
      // By the index, even where it finds nearly everybody: the parts of each user's texts are only in it, and take long to make.
      if (parts.length > 0) await tx.execute(sql`set local enable_seqscan = off`);
      const { total, ids } = await find(tx, { where, sort, page });
      if (ids === undefined) return { total, items: [] };
      const items = await selectListed(tx)
        .where(inArray(users.id, ids))
        .orderBy(...orderOf(sort))
        .prepare("list_users")
        .execute();
      return { total, items };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** The ids of all users who match, in their order. Throws as `listUsers` does. */
export async function matchingIds(context: Context, filter: UserFilter): Promise<readonly number[]> {
  const { db, clock } = context;
  const now = clock.now();
  const { search, silentSince } = parsed(filter, now);
  const parts = partsOf(search);
  const access = await accessIn(context, filter, now);
  return await db.transaction(
    async (tx) => {
      if (parts.length > 0) await tx.execute(sql`set local enable_seqscan = off`);
      const order = sql.join(orderOf(filter.sort ?? DEFAULT_SORT), sql`, `);
      // One value: a row for each id would take several times as long.
      const [row] = await tx
        .select({ ids: sql<string>`coalesce(string_agg(${users.id}::text, ',' order by ${order}), '')` })
        .from(users)
        .where(conditionOf(context, filter, { search, parts, silentSince, access, now }));
      return row === undefined || row.ids === "" ? [] : row.ids.split(",").map(Number);
    },
    { accessMode: "read only" },
  );
}

/** These users as lists have them, without an order; who is gone is left out. */
export async function readListed({ db }: Context, ids: readonly number[]): Promise<readonly ListedUser[]> {
  return await selectListed(db)
    .where(isAnyOf(users.id, "bigint[]", sql`${`{${ids.join()}}`}`))
    .prepare("read_listed_users")
    .execute();
}

function selectListed(db: Database | Transaction) {
  return db.select({ ...getTableColumns(users), activeKeys, lastKeyUseAt }).from(users);
}

/** What of a filter has to be read first. */
interface Parsed {
  readonly search: string;
  readonly silentSince: Date | undefined;
}

function parsed({ search, silentFor }: UserFilter, now: Date): Parsed {
  return {
    search: parseText("search", search ?? "", MAX_SEARCH),
    silentSince: silentFor === undefined ? undefined : shift(now, -parseDuration(silentFor)),
  };
}

interface Looking extends Parsed {
  readonly parts: readonly string[];
  /** Whose access is as the filter says. */
  readonly access: SQL | undefined;
  readonly now: Date;
}

async function accessIn({ db }: Context, { access }: UserFilter, now: Date): Promise<SQL | undefined> {
  return access === undefined ? undefined : await haveAccess(db, access, now);
}

function conditionOf({ policy }: Context, filter: UserFilter, { search, parts, silentSince, access, now }: Looking) {
  const { status, supervisor, welcome, companyId, sponsor, lastUsed, terms } = filter;
  return and(
    status === undefined ? undefined : hasStatusAt(status, now),
    access,
    supervisor === undefined ? undefined : eq(users.supervisor, supervisor),
    welcome === undefined ? undefined : isNotNull(users.welcomePendingSince),
    companyId === undefined ? undefined : eq(users.companyId, companyId),
    sponsor === undefined ? undefined : hasSponsor(sponsor),
    terms === undefined ? undefined : haveTerms(policy, terms, now),
    lastUsed === undefined ? undefined : isNull(users.seenAt),
    silentSince === undefined ? undefined : or(...silentKinds(silentSince)),
    search === "" ? undefined : holds(search, parts),
  );
}

/** Skipping this many users takes no time, so a page behind them need not know how many come after it. */
const NEAR = 1000;

interface Near extends UserFilter {
  readonly silentSince: Date | undefined;
  readonly sort: UserSort;
}

/** A page near the beginning, which most are: counted and read by one statement, which is one snapshot, too. */
async function readNear(
  { db, clock }: Context,
  { status, supervisor, welcome, companyId, lastUsed, silentSince, sort }: Near,
  page: Page,
): Promise<Paged<ListedUser>> {
  const known = nearQueries(db);
  const kind: Kind = {
    status,
    ...{ hasSupervisor: supervisor !== undefined, hasCompany: companyId !== undefined },
    isUnwelcomed: welcome !== undefined,
    isUnused: lastUsed !== undefined,
    isSilent: silentSince !== undefined,
    sort,
  };
  const name = Object.values(kind).join();
  const query = known.get(name) ?? prepareNear(db, kind);
  known.set(name, query);
  const now = clock.now().toISOString();
  const since = silentSince?.toISOString();
  const [row] = await query.execute({ now, since, supervisor, companyId, size: page.pageSize, offset: offsetOf(page) });
  return row ?? { total: 0, items: [] };
}

/** Of each kind of filter and order. Built once: that takes longer than running it. */
const nearQueries = oncePerDatabase(() => new Map<string, ReturnType<typeof prepareNear>>());

interface Kind {
  readonly status: UserRow["status"] | undefined;
  readonly hasSupervisor: boolean;
  readonly hasCompany: boolean;
  readonly isUnwelcomed: boolean;
  readonly isUnused: boolean;
  readonly isSilent: boolean;
  readonly sort: UserSort;
}

function prepareNear(db: Database, kind: Kind) {
  const { status, hasSupervisor, hasCompany, isUnwelcomed, isUnused, isSilent, sort } = kind;
  const others = and(
    status === undefined ? undefined : hasStatusAt(status, sql`${sql.placeholder("now")}`),
    hasSupervisor ? eq(users.supervisor, sql.placeholder("supervisor")) : undefined,
    hasCompany ? eq(users.companyId, sql.placeholder("companyId")) : undefined,
    isUnwelcomed ? isNotNull(users.welcomePendingSince) : undefined,
    isUnused ? isNull(users.seenAt) : undefined,
  );
  const kinds = isSilent ? silentKinds(sql`${sql.placeholder("since")}`) : [undefined];
  const order = orderOf(sort);
  const page = db
    .select()
    .from(users)
    .where(and(others, or(...kinds)))
    .orderBy(...order)
    .limit(sql.placeholder("size"))
    .offset(sql.placeholder("offset"));
  const columns = {
    ...getTableColumns(users),
    activeKeys: { sql: activeKeys, read: Number },
    lastKeyUseAt: { sql: lastKeyUseAt, read: (at: unknown) => (at === null ? null : new Date(String(at))) },
  };
  const items = jsonRows(columns, sql`${page} users`, order);
  // Each kind by itself, whom the index alone then counts; nobody is of two.
  const counts = kinds.map((kind) => sql`(${db.select({ total: count() }).from(users).where(and(others, kind))})`);
  const total = sql.join(counts, sql` + `).mapWith(Number);
  return db.select({ total, items }).from(sql`(values (1)) one`).prepare("list_users_near");
}

/** Whoever was seen then at last, and whoever never was and is no newer: who is newer than that has had no time to be silent. */
function silentKinds(time: Date | SQL): (SQL | undefined)[] {
  return [lte(users.seenAt, time), and(isNull(users.seenAt), lte(users.createdAt, time))];
}

interface Wanted {
  readonly where: SQL | undefined;
  readonly sort: UserSort;
  readonly page: Page;
}

/** How many users there are, and the ids of the page, for a query; undefined where the page is empty. */
type Find = (
  tx: Transaction,
  wanted: Wanted,
) => Promise<{ readonly total: number; readonly ids: SQL | number[] | undefined }>;

/** By the indexes: the page costs as much as it is far from the nearer end. */
const findInOrder = (async (tx, { where, sort, page }) => {
  const [row] = await tx.select({ total: count() }).from(users).where(where).prepare("count_users").execute();
  const total = row?.total ?? 0;
  const offset = offsetOf(page);
  const size = Math.min(page.pageSize, total - offset);
  if (size <= 0) return { total, ids: undefined };
  // A page in the farther half is counted from the other end: so the last page costs as much as the first.
  const reversed = offset > total / 2;
  const ids = tx
    .select({ id: users.id })
    .from(users)
    .where(where)
    .orderBy(...orderOf(reversed ? opposite(sort) : sort))
    .limit(size)
    .offset(reversed ? total - offset - size : offset);
  return { total, ids: sql`${ids}` };
}) satisfies Find;

/** By reading every user whom the index finds once, for the count and the page together. */
const findMatching = (async (tx, { where, sort, page }) => {
  const order = sql.join(orderOf(sort), sql`, `);
  const [row] = await tx.execute<{ total: number; ids: string }>(sql`
    with found as materialized (select ${users.id}, ${users.username}, ${users.expireAt} from ${users} where ${where})
    select (select count(*)::int from found) as total,
      array_to_string(array(
        select id from found as users order by ${order} limit ${page.pageSize} offset ${offsetOf(page)}
      ), ',') as ids`);
  const { total = 0, ids = "" } = row ?? {};
  return { total, ids: ids === "" ? undefined : ids.split(",").map(Number) };
}) satisfies Find;
