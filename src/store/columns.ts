/** The kinds of columns that tables share. */

import { bigint, customType, timestamp } from "drizzle-orm/pg-core";

/** Bytes. */
export const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => "bytea" });

/** A number that the database gives, ascending and never twice. */
export const id = () => bigint({ mode: "number" }).generatedAlwaysAsIdentity().primaryKey();

/** A moment, to the millisecond. */
export const time = () => timestamp({ withTimezone: true, precision: 3, mode: "date" });

/**
 * What `$n::bytea[]` is given for these bytes, each as hexadecimal digits (PostgreSQL's manual, 8.4.1 and 8.15.2). Never `$n::text::bytea[]`:
 * such a text is read again for each row that the list is compared with.
 */
export function byteaArray(hex: readonly string[]): string {
  return `{${hex.map((digits) => `"\\\\x${digits}"`).join(",")}}`;
}
