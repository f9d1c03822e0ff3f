/** The tables of reviews: whether the access of each user is still right, and what was answered. */

import { sql } from "drizzle-orm";
import { bigint, boolean, check, index, integer, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import {
  ACTOR_TYPES,
  REVIEW_ANSWERS,
  REVIEW_SCOPES,
  REVIEW_STATUSES,
  UNANSWERED_WAYS,
} from "../shared/product/statuses.ts";
import { id, time } from "./columns.ts";
import { users } from "./schema.ts";

/** Reviews. One that is closed is never changed. */
export const reviews = pgTable(
  "reviews",
  {
    id: id(),
    scope: text({ enum: REVIEW_SCOPES }).notNull(),
    /** The company or the group of hosts; null for other scopes. */
    scopeId: bigint({ mode: "number" }),
    /** Its name when the review began, or the sponsor's address; "" for everybody. */
    scopeName: text().notNull().default(""),
    /** What happens on the day to whoever is not answered for. */
    unanswered: text({ enum: UNANSWERED_WAYS }).notNull(),
    status: text({ enum: REVIEW_STATUSES }).notNull().default("open"),
    startedAt: time().notNull(),
    startedBy: text().notNull(),
    dueAt: time().notNull(),
    closedAt: time(),
    /** For how many days ahead the last reminder was; null before the first. */
    reminded: integer(),
    /** The record of its start; 0 until that is known. */
    startRecord: bigint({ mode: "number" }).notNull().default(0),
    /** The record of its close, and that record's seal in hexadecimal digits. */
    closeRecord: bigint({ mode: "number" }).notNull().default(0),
    closeSeal: text().notNull().default(""),
  },
  (t) => [
    check("reviews_status", sql`${t.status} in ('open', 'closed')`),
    check("reviews_scope", sql`${t.scope} in ('all', 'company', 'host_group', 'sponsor')`),
    check("reviews_unanswered", sql`${t.unanswered} in ('disable', 'report')`),
    index("reviews_open").on(t.dueAt).where(sql`${t.status} = 'open'`),
  ],
);

/** The users that a review is about. No foreign key to the user: what was answered stays when the user is gone. */
export const reviewItems = pgTable(
  "review_items",
  {
    reviewId: bigint({ mode: "number" })
      .notNull()
      .references(() => reviews.id),
    userId: bigint({ mode: "number" }).notNull(),
    username: text().notNull(),
    /** Null as long as nobody has answered. */
    answer: text({ enum: REVIEW_ANSWERS }),
    /** Until when an administrator lets the answer wait; null: until the review's day. */
    graceUntil: time(),
    /** The earlier end of access, of the answer that shortens. */
    until: time(),
    reason: text().notNull().default(""),
    answeredAt: time(),
    answeredByType: text({ enum: ACTOR_TYPES }),
    answeredBy: text().notNull().default(""),
    /** The owner of the token, if a token answered. */
    answeredByOwner: text().notNull().default(""),
    answeredFrom: text().notNull().default(""),
    /** A JSON object: the evidence as it was when answered; the record has its SHA-256. "" before. */
    evidence: text().notNull().default(""),
    /** The record of the answer; 0 before. */
    record: bigint({ mode: "number" }).notNull().default(0),
    /** Whether the access is still to be taken away, as the answer says. */
    pending: boolean().notNull().default(false),
  },
  (t) => [
    primaryKey({ columns: [t.reviewId, t.userId] }),
    check("review_items_answer", sql`${t.answer} in ('keep', 'end', 'shorten', 'unanswered', 'gone')`),
    index("review_items_open").on(t.reviewId, t.userId).where(sql`${t.answer} is null`),
    uniqueIndex("review_items_pending").on(t.reviewId, t.userId).where(sql`${t.pending}`),
    index("review_items_user").on(t.userId),
  ],
);

/** What users were mailed about ending for want of use. */
export const inactivityNotices = pgTable("inactivity_notices", {
  userId: bigint({ mode: "number" })
    .primaryKey()
    .references(() => users.id, { onDelete: "cascade" }),
  /** Their last use as it was counted then: one that is newer makes the notice void. */
  since: time().notNull(),
  mailedAt: time().notNull(),
  /** When they were mailed a day before; null until then. */
  remindedAt: time(),
});

export type ReviewRow = typeof reviews.$inferSelect;
export type ReviewItemRow = typeof reviewItems.$inferSelect;
