/** Tables of the audit log. */

import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import { bigint, date, index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { ACTOR_TYPES, RESULTS } from "../shared/product/statuses.ts";
import { bytea, time } from "./columns.ts";

/** The newest audit record's number, time and seal; its row lock gives the records their order. */
export const auditHead = pgTable("audit_head", {
  one: integer().primaryKey(),
  id: bigint({ mode: "number" }).notNull(),
  createdAt: time().notNull().default(sql`'1970-01-01T00:00:00Z'`),
  mac: bytea().notNull().default(sql`''::bytea`),
});

/**
 * The audit log: numbered without gaps, in the order of commit and of time. Each `n` column counts the records with the
 * same columns as its index begins with, so that lists need not count: any filter is some of these series, one for each
 * action that it lets through. Only audit_append() adds records, only audit_purge() removes them, from the old end.
 */
export const audit = pgTable(
  "audit",
  {
    id: bigint({ mode: "number" }).primaryKey(),
    createdAt: time().notNull(),
    actorType: text({ enum: ACTOR_TYPES }).notNull(),
    actor: text().notNull(),
    action: text().notNull(),
    resourceType: text().notNull(),
    resourceId: text().notNull(),
    /** A JSON object as text. */
    detail: text().notNull(),
    result: text({ enum: RESULTS }).notNull(),
    ip: text().notNull(),
    /** The external user who acted or whom the record is about; null if there is none. */
    subjectId: bigint({ mode: "number" }),
    nAction: bigint({ mode: "number" }).notNull().default(0),
    nActorAction: bigint({ mode: "number" }).notNull().default(0),
    nResourceAction: bigint({ mode: "number" }).notNull().default(0),
    nResourceActorAction: bigint({ mode: "number" }).notNull().default(0),
    nSubject: bigint({ mode: "number" }).notNull().default(0),
    /** A JSON array: the counters that the seal covers instead, where a version before migration 0004 wrote the record. */
    sealedCounters: text(),
    /** Keyed hash of this record and of the `mac` before it; see audit/seal.ts. */
    mac: bytea().notNull().default(sql`''::bytea`),
  },
  (t) => [
    index("audit_created_at").on(t.createdAt, t.id),
    // Numbers before texts, which take several times as long to sort: most comparisons are between equal ones. Two series may have
    // the same number, so a lookup compares the texts as well, which the index has, too.
    index("audit_by_action").on(sql`hashtextextended(${t.action}, 0)`, t.id, t.nAction, t.action),
    index("audit_by_actor_action").on(
      sql`hashtextextended(${t.actor}, hashtextextended(${t.action}, 0))`,
      ...[t.id, t.nActorAction, t.actor, t.action],
    ),
    // The actions of one resource have neighbouring numbers, so that its records are on few pages of the index.
    index("audit_by_resource_action").on(
      sql`((hashtextextended(${t.resourceId}, 0) & -65536) | (hashtextextended(${t.action}, 0) & 65535))`,
      ...[t.id, t.nResourceAction, t.resourceId, t.action],
    ),
    index("audit_by_resource_actor_action").on(
      sql`((hashtextextended(${t.resourceId}, hashtextextended(${t.actor}, 0)) & -65536) | (hashtextextended(${t.action}, 0) & 65535))`,
      ...[t.id, t.nResourceActorAction, t.resourceId, t.actor, t.action],
    ),
    // With the columns that one user's records are filtered by, so that the index alone answers.
    index("audit_by_subject")
      .on(t.subjectId, t.id, t.nSubject, t.action, t.actor, t.resourceId)
      .where(sql`${t.subjectId} is not null`),
    // Few of many, as a rule; other records cost nothing here.
    index("audit_failed").on(t.id).where(sql`${t.result} = 'failed'`),
  ],
);

/** The place where retention cut the log off: the last record removed, with a keyed hash that says that the service did it. */
export const auditCheckpoints = pgTable("audit_checkpoint", {
  id: bigint({ mode: "number" }).primaryKey(),
  createdAt: time().notNull(),
  mac: bytea().notNull(),
  purgedAt: time().notNull(),
  seal: bytea().notNull(),
});

/** One row: tells whether a key is the one that seals the log. Only audit_begin() writes it, and only once. */
export const auditKey = pgTable("audit_key", { one: integer().primaryKey(), fingerprint: bytea().notNull() });

/** One row: milliseconds for which audit_purge() keeps every record, for any caller. Only the owner of the table writes it. */
export const auditFloor = pgTable("audit_floor", {
  one: integer().primaryKey(),
  milliseconds: bigint({ mode: "number" }).notNull(),
});

/** How many changes the audit log has of a day (UTC) that is over, and how many that failed; it need not be read again. */
export const changeCounts = pgTable("change_counts", {
  date: date({ mode: "string" }).primaryKey(),
  changes: integer().notNull(),
  failed: integer().notNull(),
});

export type AuditRow = typeof audit.$inferSelect;

/**
 * Whether a record has that action, and is about one of these resources: as the index of such records has it, which texts alone
 * would not find.
 */
export function isAbout(resourceIds: readonly string[], action: string): SQL | undefined {
  const series = (resource: SQL, of: SQL) =>
    sql`((hashtextextended(${resource}, 0) & -65536) | (hashtextextended(${of}, 0) & 65535))`;
  const wanted = resourceIds.map((id) => series(sql`${id}::text`, sql`${action}::text`));
  return and(
    inArray(series(sql`${audit.resourceId}`, sql`${audit.action}`), wanted),
    inArray(audit.resourceId, [...resourceIds]),
    eq(audit.action, action),
  );
}
