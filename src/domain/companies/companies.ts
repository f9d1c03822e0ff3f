/** Companies that external users come from, and what each allows its users. */

import { asc, count, eq, sql } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { MAX_SEARCH } from "../../shared/product/limits.ts";
import { offsetOf, type Page, type Paged } from "../../shared/product/page.ts";
import { parseText } from "../../shared/text/text.ts";
import { type Database, isDuplicate, type Transaction } from "../../store/client.ts";
import { type CompanyRow, companies } from "../../store/schema-companies.ts";
import { countUsers, findCompany, lockCompany } from "../accounts/company-limits.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { type CompanyChanges, limitsDetail, lockGroups, parseCompany } from "./company-fields.ts";

/** A company as lists show it. */
export interface Company {
  readonly row: CompanyRow;
  /** Names, in the order of their ids. */
  readonly hostGroups: readonly string[];
  /** How many users it has, whatever their status. */
  readonly users: number;
  /** Whether what its users lose by a change of it is still being taken away. */
  readonly isNarrowing: boolean;
}

/** One page of companies, by name; with `search` those whose name has it, in any case. Throws `invalid` for a search that is no text. */
export async function listCompanies({ db }: Pick<Context, "db">, page: Page, search = ""): Promise<Paged<Company>> {
  const part = parseText("search", search, MAX_SEARCH);
  const where = part === "" ? undefined : sql`strpos(lower(${companies.name}), lower(${part})) > 0`;
  // One snapshot, so that `total` and `items` agree.
  return await db.transaction(
    async (tx) => {
      const [row] = await tx.select({ total: count() }).from(companies).where(where);
      const items = await selectCompanies(tx)
        .where(where)
        .orderBy(asc(companies.name))
        .limit(page.pageSize)
        .offset(offsetOf(page));
      return { total: row?.total ?? 0, items: items.map(asCompany) };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** The company; throws `not_found`. */
export async function getCompany({ db }: Pick<Context, "db">, id: number): Promise<Company> {
  return await readCompany(db, id);
}

/** Makes a company, which has no users yet. Throws `invalid`, and `conflict` for a name that is taken. */
export async function createCompany(
  context: Context,
  input: CompanyChanges & { readonly name: string },
): Promise<Company> {
  const entry = { action: "company.create", detail: { name: input.name } } as const;
  return await audited(context, entry, async (op) => {
    await lockGroups(op.tx, input);
    const { row: fields, groups } = await parseCompany(context, op.tx, input);
    const now = context.clock.now();
    const values = { ...fields, name: fields.name ?? "", createdAt: now, updatedAt: now };
    const [row] = await refuseTaken(values.name, op.tx.insert(companies).values(values).returning());
    if (row === undefined) throw new Error("insert returned no row");
    op.record({ resourceId: String(row.id), detail: limitsDetail(fields, groups) });
    return await readCompany(op.tx, row.id);
  });
}

/** Deletes a company that has no users. Throws `not_found`, and `conflict` for one that has. */
export async function deleteCompany(context: Context, id: number): Promise<void> {
  await audited(context, entryOf("company.delete", id), async (op) => {
    const { name } = await requireLocked(op.tx, id);
    op.about({ detail: { name } });
    const users = await countUsers(op.tx, id);
    if (users > 0) {
      const sentence = `${users === 1 ? "1 user comes" : `${users} users come`} from ${name}; delete them, or give them another company, first`;
      throw new UamError("conflict", sentence, { reason: "company.used" });
    }
    await op.tx.delete(companies).where(eq(companies.id, id));
  });
}

/** The id of the company of that name; digits that are nobody's name are an id. Throws `not_found`. */
export async function idOfCompany({ db }: Pick<Context, "db">, reference: string): Promise<number> {
  const [row] = await db
    .select({ id: companies.id })
    .from(companies)
    .where(eq(companies.name, reference.normalize("NFC")));
  if (row !== undefined) return row.id;
  if (/^\d{1,15}$/.test(reference)) return (await requireCompany(db, Number(reference))).id;
  throw new UamError("not_found", `There is no company named ${JSON.stringify(reference)}`, {
    reason: "company.missing",
  });
}

/** The company, whose row lock this takes; throws `not_found`. */
export async function requireLocked(tx: Transaction, id: number): Promise<CompanyRow> {
  return (await lockCompany(tx, id)) ?? missing();
}

/** The company's row; throws `not_found`. */
export async function requireCompany(db: Database | Transaction, id: number): Promise<CompanyRow> {
  return (await findCompany(db, id)) ?? missing();
}

/** The entry of an operation on a company. */
export function entryOf<A extends `company.${"update" | "delete" | "end" | "resume"}`>(action: A, id: number) {
  return { action, resourceId: String(id) } as const;
}

function missing(): never {
  throw new UamError("not_found", "There is no such company", { reason: "company.missing" });
}

/** The company as lists show it; throws `not_found`. */
export async function readCompany(db: Database | Transaction, id: number): Promise<Company> {
  const [row] = await selectCompanies(db).where(eq(companies.id, id));
  return row === undefined ? missing() : asCompany(row);
}

function selectCompanies(db: Database | Transaction) {
  return db
    .select({
      row: companies,
      groups: sql<string>`(select coalesce(json_agg(g.name order by g.id), '[]')::text from host_groups g
        where g.id = any(${sql.raw("companies.host_groups")}))`,
      users: sql<number>`(select count(*)::int from users u where u.company_id = ${sql.raw("companies.id")})`,
      isNarrowing: sql<boolean>`companies.narrowing_since is not null or exists (select 1 from users u
        join closings c on c.user_id = u.id and c.kind in ('narrow', 'shorten', 'leave') where u.company_id = ${sql.raw("companies.id")})`,
    })
    .from(companies)
    .$dynamic();
}

function asCompany({ groups, ...company }: Omit<Company, "hostGroups"> & { readonly groups: string }): Company {
  return { ...company, hostGroups: JSON.parse(groups) as string[] };
}

/** Throws `conflict` if the statement fails because another company has the name. */
export async function refuseTaken<T>(name: string, statement: PromiseLike<T>): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    if (!isDuplicate(error, "companies_name_unique")) throw error;
    throw nameTaken(name);
  }
}

export function nameTaken(name: string): UamError {
  return new UamError("conflict", `There is a company named ${name}`, { reason: "company.taken" });
}
