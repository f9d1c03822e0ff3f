/** The table of the companies that external users come from. */

import { sql } from "drizzle-orm";
import { check, integer, pgTable, text } from "drizzle-orm/pg-core";
import { ACTOR_TYPES, COMPANY_STATUSES } from "../shared/product/statuses.ts";
import { id, time } from "./columns.ts";

/** Companies. Limits that are null or empty limit nothing. */
export const companies = pgTable(
  "companies",
  {
    id: id(),
    name: text().notNull().unique(),
    /** No user's end lies after it. */
    contractEnd: time(),
    /** How many users it may have, whatever their status. */
    maxUsers: integer(),
    /** How many days ahead a user's end may lie when it is set. */
    maxTtlDays: integer(),
    /** As canonical CIDRs. */
    sourceNetworks: text().array().notNull().default([]),
    /** The ids of the groups of hosts that its users may have. */
    hostGroups: integer().array().notNull().default([]),
    /** The hours of the week in which access of its users is open, as `parseHours` reads them; null for always. */
    hours: text(),
    /** Who answers for its users; "" for nobody. */
    sponsorEmail: text().notNull().default(""),
    status: text({ enum: COMPANY_STATUSES }).notNull().default("active"),
    /** Who asked to end it: what follows is recorded in their name. */
    askedByType: text({ enum: ACTOR_TYPES }).notNull().default("system"),
    askedBy: text().notNull().default(""),
    /** The owner of the token, if a token asked. */
    askedByOwner: text().notNull().default(""),
    /** Since when its users are being narrowed to its limits; null once nobody lies outside. */
    narrowingSince: time(),
    /** The last end that they keep; null where their ends stay. Not from the limits, which follow the clock. */
    narrowingEnd: time(),
    /** Who asked for that, as above. */
    narrowingByType: text({ enum: ACTOR_TYPES }).notNull().default("system"),
    narrowingBy: text().notNull().default(""),
    narrowingByOwner: text().notNull().default(""),
    createdAt: time().notNull(),
    updatedAt: time().notNull(),
  },
  (t) => [check("companies_status", sql`${t.status} in ('active', 'ending', 'ended')`)],
);

export type CompanyRow = typeof companies.$inferSelect;
