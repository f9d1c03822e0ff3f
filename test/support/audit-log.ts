/** Audit records in bulk, sealed like real ones, put into the tables by a superuser. */

import { sql } from "drizzle-orm";
import { purgeBatch } from "../../src/domain/audit/retention.ts";
import { createSeal } from "../../src/domain/audit/seal.ts";
import type { AuditContent, Services } from "../../src/domain/operation/context.ts";
import { AUDIT_ACTIONS, resourceTypeOf } from "../../src/shared/product/audit-actions.ts";
import type { Database } from "../../src/store/client.ts";
import { withGuardsDown } from "../../src/store/protect.ts";

/** The key that the test application seals with. */
export const TEST_KEY = new Uint8Array(32).fill(7);

/** The part of a record that a caller chooses. */
export type Draft = Omit<AuditContent, "id" | `n${string}` | "sealedCounters">;

const BATCH = 5000;

/**
 * Appends `count` records made by `draft` to an empty log, numbered, counted and sealed as the service would have done.
 * Indexes are dropped meanwhile if that is faster.
 */
export async function fillAuditLog(superuser: Database, count: number, draft: (index: number) => Draft): Promise<void> {
  const seal = createSeal(TEST_KEY);
  const counters = new Map<string, number>();
  const next = (...key: readonly unknown[]) => {
    const name = key.join("\0");
    const n = (counters.get(name) ?? 0) + 1;
    counters.set(name, n);
    return n;
  };
  await superuser.transaction((tx) =>
    withGuardsDown(tx, async () => {
      // Until a commit is written, vacuum cannot note what all can see, and each record would be looked at in the table.
      await tx.execute("set local synchronous_commit = on");
      const indexes =
        count < 100_000
          ? []
          : await tx.execute<{ name: string; definition: string }>(
              sql`select indexname as name, indexdef as definition from pg_indexes where tablename = 'audit' and indexname <> 'audit_pkey'`,
            );
      for (const { name } of indexes) await tx.execute(sql`drop index public.${sql.identifier(name)}`);
      let mac: Uint8Array = new Uint8Array();
      let createdAt = new Date(0);
      for (let start = 0; start < count; start += BATCH) {
        const rows: unknown[] = [];
        for (let index = start; index < Math.min(count, start + BATCH); index++) {
          const d = draft(index);
          const content: AuditContent = {
            ...d,
            id: index + 1,
            nAction: next("a", d.action),
            nActorAction: next("aa", d.actor, d.action),
            nResourceAction: next("ra", d.resourceId, d.action),
            nResourceActorAction: next("raa", d.resourceId, d.actor, d.action),
            nSubject: d.subjectId === null ? 0 : next("s", d.subjectId),
            sealedCounters: null,
          };
          mac = seal.record(mac, content);
          createdAt = d.createdAt;
          rows.push(toRow(content, mac));
        }
        await tx.execute(
          sql`insert into public.audit select * from json_populate_recordset(null::public.audit, ${JSON.stringify(rows)}::json)`,
        );
      }
      await tx.execute(
        sql`update public.audit_head set id = ${count}, created_at = ${createdAt.toISOString()}, mac = ${mac}`,
      );
      for (const { definition } of indexes) await tx.execute(sql.raw(definition));
    }),
  );
  await superuser.execute("vacuum analyze public.audit");
}

/** How many there are of whom and what records name. */
export interface Crowd {
  readonly admins: number;
  readonly users: number;
  /** Keys, settings and so on. */
  readonly resources: number;
}

export const BUSY: Crowd = { admins: 8, users: 2000, resources: 5000 };

/** Records of a busy service: few administrators, many users, many anonymous actions; `milliseconds` apart. */
export function busyDraft(
  random: () => number,
  start: Date,
  milliseconds: number,
  { admins, users, resources } = BUSY,
): (index: number) => Draft {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  return (index) => {
    const action = pick(AUDIT_ACTIONS);
    const resourceType = resourceTypeOf(action);
    const user = 1 + Math.floor(random() ** 2 * users);
    const bySelf = action.startsWith("key.");
    const [actorType, actor] = bySelf
      ? (["user", `user${user}`] as const)
      : action.startsWith("lifecycle.")
        ? (["system", "system"] as const)
        : action.startsWith("auth.otp")
          ? (["anonymous", "anonymous"] as const)
          : (["admin", `admin${Math.floor(random() ** 2 * admins)}`] as const);
    return {
      createdAt: new Date(start.getTime() + index * milliseconds),
      actorType,
      actor,
      action,
      resourceType,
      resourceId:
        resourceType === "" ? "" : String(resourceType === "user" ? user : 1 + Math.floor(random() * resources)),
      detail: JSON.stringify({ username: `user${user}`, index }),
      result: random() < 0.9 ? "success" : "failed",
      ip: bySelf ? `192.0.2.${index % 250}` : "",
      subjectId: resourceType === "" && random() < 0.5 ? null : user,
    };
  };
}

/** Removes the records older than `before` as the service does, without a record of it; returns how many. */
export async function purgeAudit(services: Pick<Services, "db" | "seal" | "clock">, before: Date): Promise<number> {
  const purged = await services.db.transaction((tx) => purgeBatch(tx, services, before));
  return purged === undefined ? 0 : purged.removed + (await purgeAudit(services, before));
}

/** A generator of the same numbers between 0 and 1 in every run (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function toRow(content: AuditContent, mac: Uint8Array): Record<string, unknown> {
  const named = Object.entries(content).map(([key, value]) => [
    key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return { ...Object.fromEntries(named), mac: `\\x${Buffer.from(mac).toString("hex")}` };
}
