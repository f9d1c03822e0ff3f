/** The kinds of columns that tables share. */

import { bigint, customType, integer, text, timestamp } from "drizzle-orm/pg-core";
import { HOURS_ENDS, REQUEST_RULES } from "../shared/product/statuses.ts";

/** Bytes. */
export const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" });

/** A number that the database gives, ascending and never twice. */
export const id = () => bigint({ mode: "number" }).generatedAlwaysAsIdentity().primaryKey();

/** A moment, to the millisecond. */
export const time = () => timestamp({ withTimezone: true, precision: 3, mode: "date" });

/** When somebody's access is open. */
export const hours = () => ({
  /** When it begins; null: at once. */
  startsAt: time(),
  /** The hours of the week, as `parseHours` reads them; null for always. */
  hours: text(),
  /** Those of the company, as above, kept as the company's are (domain/companies/hours.ts): access is open in the hours of both. */
  companyHours: text(),
  /** What ends with them. */
  hoursEnd: text({ enum: HOURS_ENDS }).notNull().default("sessions"),
  /** When it next begins or ends by these; null where it does not. */
  hoursDueAt: time(),
  /** How many sessions ended with a window since `windowRecordedAt`, when the last such record was made (domain/accounts/ended-sessions.ts). */
  windowSessions: integer().notNull().default(0),
  windowRecordedAt: time(),
});

/** Access that is open only after somebody asked for it, and what was allowed last. */
export const allowance = () => ({
  /** Who allows it; null where nobody needs to ask. */
  requestRule: text({ enum: REQUEST_RULES }),
  /** The most hours that may be allowed from any moment on. */
  requestHours: integer(),
  /** The groups of hosts whose hosts they may ask for, by name; null for every host of theirs. */
  requestGroups: text().array(),
  /** Open from then on, and no longer at `allowedUntil`; both null where nothing is allowed. */
  allowedFrom: time(),
  allowedUntil: time(),
  /** Where, as `AllowedHosts` in JSON; null: on every host of theirs, until `allowedUntil`. */
  allowedHosts: text(),
});
