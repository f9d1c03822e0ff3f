/** Tables of what the service keeps about itself: settings, its heartbeat, and what it has counted. */

import { bigint, date, integer, pgTable, text } from "drizzle-orm/pg-core";
import { time } from "./columns.ts";

/** Overrides of the policy durations, in milliseconds. */
export const settings = pgTable("settings", {
  key: text().primaryKey(),
  value: bigint({ mode: "number" }).notNull(),
  updatedAt: time().notNull(),
});

/** What policy durations are compared with, in milliseconds: the `configured` default of the last start; until `heldUntil` none is shorter than `heldValue`. */
export const policyState = pgTable("policy_state", {
  key: text().primaryKey(),
  configured: bigint({ mode: "number" }).notNull(),
  heldValue: bigint({ mode: "number" }),
  heldUntil: time(),
});

/** One row: when the service last said that it runs, and until when nothing is deleted (lifecycle/heartbeat.ts). */
export const serviceState = pgTable("service_state", {
  one: integer().primaryKey(),
  heartbeatAt: time().notNull(),
  holdUntil: time(),
});

/** How many users there were in each state, as last counted on that day (UTC); for the dashboard's charts. */
export const userCounts = pgTable("user_counts", {
  date: date({ mode: "string" }).primaryKey(),
  active: integer().notNull(),
  disabled: integer().notNull(),
  expired: integer().notNull(),
});
