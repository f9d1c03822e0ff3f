/** An audit log of any size in one statement: its counters are right, its seals are not. */

import { sql } from "drizzle-orm";
import { type AuditAction, resourceTypeOf } from "../../src/shared/product/audit-actions.ts";
import { type ConnectionOptions, openDatabase, type Transaction } from "../../src/store/client.ts";
import { withGuardsDown } from "../../src/store/protect.ts";

/** Seventeen: as many as have no divisor in common with the number of actors, or of users. */
const ACTIONS = [
  ...["auth.admin_login", "auth.otp_send", "auth.otp_login", "auth.logout", "user.create", "user.update"],
  ...["user.disable", "user.enable", "user.extend", "user.delete", "session.end", "key.create", "key.rename"],
  ...["key.update", "key.revoke", "lifecycle.expire", "reconcile.repair"],
] as const satisfies readonly AuditAction[];

const ACTORS = 8;

/** From this many on, indexes are made after the rows. */
const MANY = 100_000;

/** What a log was filled with. */
export interface Filled {
  /** Of these, each has as many records as any other: `1` to `users`. */
  readonly users: number;
  /** The same: `admin0` to this one. */
  readonly actors: number;
  readonly actions: readonly string[];
}

/**
 * Puts `rows` records of a year that ends now into the empty log, as a superuser. Record n has the action, the actor and the
 * user that n is congruent to, by numbers without a common divisor: so each combination comes up equally often, its records lie
 * as far apart as they can, and how many there are up to n is a division.
 */
export async function fillAudit(superuser: ConnectionOptions, rows: number, users: number): Promise<Filled> {
  const count = coprime(users);
  const handle = openDatabase(superuser, 1);
  try {
    const [head] = await handle.db.execute<{ id: string }>("select id from audit_head");
    if (Number(head?.id ?? 0) !== 0) throw new Error("the log is not empty");
    await handle.db.transaction(async (tx) => {
      // Until a commit is written, vacuum cannot note what all can see, and each record would be looked at in the table.
      await tx.execute("set local maintenance_work_mem = '256MB'; set local synchronous_commit = on");
      // A service that runs meanwhile takes them in this order, too.
      await tx.execute("lock table audit_head, audit in access exclusive mode");
      await withGuardsDown(tx, async () => {
        const makeIndexes = rows < MANY ? async () => {} : await dropIndexes(tx);
        await tx.execute(records(rows, count));
        await tx.execute(
          sql`update audit_head h set id = a.id, created_at = a.created_at, mac = a.mac from audit a where a.id = ${rows}`,
        );
        await makeIndexes();
      });
    });
    await handle.db.execute("vacuum analyze audit");
    return { users: count, actors: ACTORS, actions: ACTIONS };
  } finally {
    await handle.close();
  }
}

/** Drops those of the log but for its primary key, and returns what makes them again; no other table is touched. */
async function dropIndexes(tx: Transaction): Promise<() => Promise<void>> {
  const indexes = await tx.execute<{ name: string; definition: string }>(
    "select indexname as name, indexdef as definition from pg_indexes where tablename = 'audit' and indexname <> 'audit_pkey'",
  );
  for (const { name } of indexes) await tx.execute(sql`drop index public.${sql.identifier(name)}`);
  return async () => {
    for (const { definition } of indexes) await tx.execute(sql.raw(definition));
  };
}

function records(rows: number, users: number) {
  const types = ACTIONS.map((action) => resourceTypeOf(action));
  const [a, u, s] = [ACTIONS.length, ACTORS, users];
  /** How many of the numbers from 1 to n leave the same remainder as n. */
  const nth = (period: number) => sql.raw(`(n - 1) / ${period} + 1`);
  const word = (words: readonly string[]) => sql.raw(`(array['${words.join("', '")}'])[n % ${a} + 1]`);
  return sql`
    insert into audit (id, created_at, actor_type, actor, action, resource_type, resource_id, detail, result, ip, subject_id,
      n_action, n_actor_action, n_resource_action, n_resource_actor_action, n_subject, mac)
    select n, now() - interval '1 year' + n * (interval '1 year' / ${sql.raw(String(rows))}::float8),
      'admin', 'admin' || n % ${sql.raw(String(u))}, ${word(ACTIONS)}, ${word(types)}, (n % ${sql.raw(String(s))} + 1)::text,
      '{"username":"user' || n % ${sql.raw(String(s))} || '","changed":"email, purpose"}', 'success', '192.0.2.' || n % 250,
      n % ${sql.raw(String(s))} + 1,
      ${nth(a)}, ${nth(a * u)}, ${nth(a * s)}, ${nth(a * s * u)}, ${nth(s)}, sha256(n::text::bytea)
    from generate_series(1::bigint, ${sql.raw(String(rows))}) n`;
}

/** The largest number up to `users` that has no divisor in common with those of actions and actors. */
function coprime(users: number): number {
  for (let count = users; count > 1; count--) {
    if (count % 2 === 1 && count % ACTIONS.length !== 0) return count;
  }
  return 1;
}
