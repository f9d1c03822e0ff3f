/** Roles in the database: the audit log belongs to a role that the service does not use. */

import { type SQL, sql } from "drizzle-orm";
import type { Database, Executor, Transaction } from "./client.ts";

/** The role that owns everything where a superuser runs the migrations; it cannot log in. */
export const OWNER_ROLE = "uam_owner";

const GUARDED = ["audit", "audit_head", "audit_checkpoint", "audit_key", "audit_floor"] as const;
const ENTRANCES = ["audit_begin", "audit_next", "audit_append", "audit_purge"] as const;
const GUARDED_SQL = sql.raw(`(${GUARDED.map((name) => `'${name}'`).join(", ")})`);

/**
 * Gives `service` the rights it needs and no more: data of every table but those of the audit log, which it can read and
 * otherwise only reach through audit_append() and audit_purge(). `owner` is a connection of another role that owns the
 * database or is a superuser; as a superuser it first hands everything to a role that nobody can log in as. Idempotent.
 */
export async function protectAudit(owner: Database | Transaction, service: string): Promise<void> {
  await owner.transaction((tx) => protectWithin(tx, service));
}

/** `protectAudit` as part of a transaction of the owner's. */
export async function protectWithin(tx: Executor, service: string): Promise<void> {
  const [self] = await tx.execute<{ superuser: boolean; name: string; database: string }>(
    sql`select rolsuper as superuser, rolname as name, current_database() as database from pg_roles where rolname = current_user`,
  );
  if (self === undefined || self.name === service) throw new Error("the owner's connection is the service's own");
  const role = sql`${sql.identifier(service)}`;
  if (self.superuser) await handOver(tx, self.database, role);
  await tx.execute(sql`revoke all on schema public from public`);
  await tx.execute(sql`revoke all on schema public from ${role}`);
  await tx.execute(sql`grant usage on schema public to ${role}`);
  await tx.execute(sql`revoke all on all tables in schema public from public, ${role}`);
  await tx.execute(sql`grant select, insert, update, delete on all tables in schema public to ${role}`);
  for (const table of [...GUARDED, "uam_migrations"]) {
    await tx.execute(sql`revoke insert, update, delete on public.${sql.identifier(table)} from ${role}`);
  }
  for (const entrance of ENTRANCES) {
    await tx.execute(sql`grant execute on function public.${sql.identifier(entrance)} to ${role}`);
  }
}

/**
 * Privileges that would let the role of this connection change or remove audit records, as sentences for an
 * administrator; empty when the database itself refuses it.
 */
export async function auditProtectionFaults(db: Database): Promise<readonly string[]> {
  const rows = await db.execute<{ fault: string }>(sql`
    with self as (select oid, rolname, rolsuper, rolcreaterole from pg_roles where rolname = current_user)
    select 'it is a superuser' as fault from self where rolsuper
    union all
    select 'it may create roles and so join the owner''s' from self where rolcreaterole and not rolsuper
    union all
    select 'it owns the table ' || c.relname from pg_class c, self
    where c.relnamespace = 'public'::regnamespace and c.relname in ${GUARDED_SQL}
      and pg_has_role(self.oid, c.relowner, 'MEMBER')
    union all
    select 'it may write to the table ' || c.relname from pg_class c, self
    where c.relnamespace = 'public'::regnamespace and c.relname in ${GUARDED_SQL}
      and has_table_privilege(self.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
    union all
    select 'it owns the function ' || p.proname from pg_proc p, self
    where p.pronamespace = 'public'::regnamespace and p.proname like 'audit\\_%' and pg_has_role(self.oid, p.proowner, 'MEMBER')
    union all
    select 'it owns the database' from pg_database d, self
    where d.datname = current_database() and pg_has_role(self.oid, d.datdba, 'MEMBER')
    union all
    select 'it owns the schema public' from pg_namespace n, self
    where n.nspname = 'public' and pg_has_role(self.oid, n.nspowner, 'MEMBER')`);
  return rows.map((row) => row.fault);
}

/**
 * Runs `work` with the guards of the audit tables down, for a restore into an empty database; only their owner or a
 * superuser can. The guards are up again when the transaction ends, however it ends.
 */
export async function withGuardsDown<T>(tx: Executor, work: () => Promise<T>): Promise<T> {
  // From the catalog: the tables of an older backup may have fewer guards, or other ones.
  const guards = await tx.execute<{ table: string; name: string; state: string }>(sql`
    select tgrelid::regclass::text as table, quote_ident(tgname) as name,
      case tgenabled when 'A' then 'enable always' when 'R' then 'enable replica' else 'enable' end as state
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = 'public'::regnamespace and not tgisinternal and tgenabled <> 'D'`);
  for (const { table, name } of guards) await tx.execute(sql.raw(`alter table ${table} disable trigger ${name}`));
  const result = await work();
  for (const { table, name, state } of guards) {
    await tx.execute(sql.raw(`alter table ${table} ${state} trigger ${name}`));
  }
  return result;
}

/** Roles are the server's, not the database's: another database's migration may create the same one at this moment. */
async function handOver(tx: Executor, database: string, service: SQL): Promise<void> {
  const owner = sql.identifier(OWNER_ROLE);
  await tx.execute(sql`
    do $$ begin create role ${owner} nologin; exception when duplicate_object or unique_violation then null; end $$`);
  await tx.execute(sql`alter database ${sql.identifier(database)} owner to ${owner}`);
  await tx.execute(sql`grant connect on database ${sql.identifier(database)} to ${service}`);
  const things = await tx.execute<{ kind: string; name: string }>(sql`
    select 'table' as kind, c.oid::regclass::text as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relowner <> ${OWNER_ROLE}::regrole
    union all
    select 'function', p.oid::regprocedure::text from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proowner <> ${OWNER_ROLE}::regrole`);
  // Names as PostgreSQL itself quotes them.
  for (const { kind, name } of things) await tx.execute(sql`alter ${sql.raw(kind)} ${sql.raw(name)} owner to ${owner}`);
  await tx.execute(sql`revoke ${owner} from ${service}`);
}
