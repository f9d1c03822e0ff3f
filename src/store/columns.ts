/** The kinds of columns that tables share. */

import { bigint, customType, timestamp } from "drizzle-orm/pg-core";

/** Bytes. */
export const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" });

/** A number that the database gives, ascending and never twice. */
export const id = () => bigint({ mode: "number" }).generatedAlwaysAsIdentity().primaryKey();

/** A moment, to the millisecond. */
export const time = () => timestamp({ withTimezone: true, precision: 3, mode: "date" });
