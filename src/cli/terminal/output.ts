/** Prints command output: tables and records for people, JSON for programs. Stored text never drives the terminal. */

import type { Page } from "../../shared/product/page.ts";
import { printableJson, replaceUnprintable, visibleEscape } from "../../shared/text/text.ts";
import type { CliEnvironment } from "./environment.ts";

/** One column of a table. */
export interface Column<T> {
  readonly header: string;
  readonly value: (row: T) => string | number;
  /** In a narrow terminal the column is cut, with an ellipsis, or dropped; "either" is cut first; "below" goes to a line under the row's. */
  readonly narrow?: "cut" | "drop" | "either" | "below";
}

type Writer = Pick<CliEnvironment, "out" | "err" | "columns">;

const GAP = "  ";
/** Columns are dropped before others are cut below the first width; to the second they are cut once none is left to drop. */
const LEGIBLE = 14;
const NARROWEST = 8;
const INDENT = 4;

/** Prints rows under headers, aligned; fitted to the width of a terminal, in full anywhere else. */
export async function printTable<T>(writer: Writer, columns: readonly Column<T>[], rows: readonly T[]): Promise<void> {
  // Loaded with the first table: help and version do without it.
  const { default: widthOf } = await import("string-width");
  const measured = columns.map((column): Measured => {
    const cells = [column.header, ...rows.map((row) => visible(String(column.value(row))))];
    return {
      header: column.header,
      narrow: column.narrow,
      cells,
      width: Math.max(...cells.map((cell) => widthOf(cell))),
    };
  });
  const available = writer.columns ?? Number.POSITIVE_INFINITY;
  const isWide = lineWidth(measured.map(({ width }) => width)) > available;
  const below = isWide ? measured.filter(({ narrow }) => narrow === "below") : [];
  const { shown, dropped } = fit(
    measured.filter((column) => !below.includes(column)),
    available,
  );
  for (let line = 0; line <= rows.length; line++) {
    const filled = shown.map(({ cells, width }) => fill(cells[line] ?? "", width, widthOf));
    writer.out(`${filled.join(GAP).trimEnd()}\n`);
    for (const { cells } of line === 0 ? [] : below) {
      writer.out(`${" ".repeat(INDENT)}${fill(cells[line] ?? "", available - INDENT, widthOf).trimEnd()}\n`);
    }
  }
  if (dropped.length > 0) writer.err(`The terminal is too narrow for ${dropped.join(", ")}; --json has everything.\n`);
}

/** A page of a list, and how it is to be printed. */
interface ListPage<T> extends Page {
  readonly json: boolean;
  readonly total: number;
  readonly records: readonly T[];
}

/** Prints a page of a list: as JSON, or as a table, and on standard error that the list goes on. */
export async function printPage<T>(writer: Writer, columns: readonly Column<T>[], list: ListPage<T>): Promise<void> {
  const { json, total, records, page, pageSize } = list;
  if (json) return printJson(writer, { total, items: records });
  await printTable(writer, columns, records);
  if (page * pageSize < total) writer.err(`${total} in all; --page ${page + 1} shows the next.\n`);
}

/** A column with its cells, the header first. */
interface Measured {
  readonly header: string;
  readonly narrow: Column<never>["narrow"];
  readonly cells: readonly string[];
  readonly width: number;
}

/** Leaves columns out from the right, then takes from the widest that may be cut, until the line fits or nothing is left to do. */
function fit(
  columns: readonly Measured[],
  available: number,
): { readonly shown: readonly Measured[]; readonly dropped: readonly string[] } {
  const shown = [...columns];
  const dropped: string[] = [];
  const leastOf = (column: Measured) => (isCut(column) ? Math.min(column.width, LEGIBLE) : column.width);
  while (lineWidth(shown.map(leastOf)) > available) {
    const index = shown.findLastIndex(({ narrow }) => narrow === "drop" || narrow === "either");
    if (index === -1) break;
    dropped.unshift(...shown.splice(index, 1).map(({ header }) => header));
  }
  const widths = shown.map(({ width }) => width);
  for (let excess = lineWidth(widths) - available; excess > 0; excess--) {
    const candidates = widths.map((width, index) => (isCut(shown[index]) && width > NARROWEST ? width : 0));
    const widest = candidates.indexOf(Math.max(...candidates));
    if ((candidates[widest] ?? 0) === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return { shown: shown.map((column, index) => ({ ...column, width: widths[index] ?? 0 })), dropped };
}

function isCut(column: Measured | undefined): boolean {
  return column?.narrow === "cut" || column?.narrow === "either";
}

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
}

/** Prints a record, one field a line. */
export function printRecord(writer: Pick<Writer, "out">, record: Readonly<Record<string, unknown>>): void {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  for (const [name, value] of Object.entries(record)) {
    const text =
      value === null || value === "" ? "-" : typeof value === "object" ? JSON.stringify(value) : String(value);
    writer.out(`${name.padEnd(width)}${GAP}${visible(text)}\n`);
  }
}

/** Prints indented JSON; characters that a terminal might obey are escaped. */
export function printJson(writer: Pick<Writer, "out">, value: unknown): void {
  writer.out(`${printableJson(value, 2)}\n`);
}

/** The text with every control and formatting character (Unicode Cc, Cf, Zl, Zp, lone surrogates) as a visible escape. */
export function visible(text: string): string {
  return replaceUnprintable(text, visibleEscape);
}

/** A record's timestamp without its milliseconds, still RFC 3339; "-" where there is none. */
export function shortTime(timestamp: string | null): string {
  return timestamp === null ? "-" : timestamp.replace(/\.\d+Z$/, "Z");
}

/** The text at exactly that width: padded, or cut at a whole character, as people see characters. */
function fill(text: string, width: number, widthOf: (text: string) => number): string {
  const excess = widthOf(text) - width;
  if (excess <= 0) return text + " ".repeat(-excess);
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (widthOf(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…${" ".repeat(width - 1 - widthOf(kept))}`;
}
