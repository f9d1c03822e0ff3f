/** The kinds of columns that tables share. */

import { bigint, customType, text, timestamp } from "drizzle-orm/pg-core";

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
  /** When it next begins or ends by these; null where it does not. */
  hoursDueAt: time(),
});
