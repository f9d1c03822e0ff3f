/** What commands print: tables and records for people, JSON for programs. Stored text never drives the terminal. */

import type { CliEnvironment } from "./environment.ts";

/** One column of a table. */
export interface Column<T> {
  readonly header: string;
  readonly value: (row: T) => string | number;
  /** May be cut off, with an ellipsis, where the terminal is too narrow. */
  readonly shrinks?: true;
}

type Writer = Pick<CliEnvironment, "out" | "columns">;

const GAP = "  ";
const NARROWEST = 8;

/** Prints rows under headers, aligned; cut to the width of a terminal, whole anywhere else. */
export async function printTable<T>(writer: Writer, columns: readonly Column<T>[], rows: readonly T[]): Promise<void> {
  // Loaded with the first table: help and version answer without it.
  const { default: widthOf } = await import("string-width");
  const cells = rows.map((row) => columns.map((column) => visible(String(column.value(row)))));
  const lines = [columns.map((column) => column.header), ...cells];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => widthOf(line[index] ?? ""))));
  const fitted = fit(columns, widths, writer.columns);
  for (const line of lines) {
    const padded = line.map((cell, index) => fill(cell, fitted[index] ?? 0, widthOf));
    writer.out(`${padded.join(GAP).trimEnd()}\n`);
  }
}

/** Prints a record, one field a line. */
export function printRecord(writer: Writer, record: Readonly<Record<string, unknown>>): void {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  for (const [name, value] of Object.entries(record)) {
    const text =
      value === null || value === "" ? "-" : typeof value === "object" ? JSON.stringify(value) : String(value);
    writer.out(`${name.padEnd(width)}${GAP}${visible(text)}\n`);
  }
}

/** Prints JSON, indented; what a terminal might obey in it is escaped. */
export function printJson(writer: Writer, value: unknown): void {
  const text = JSON.stringify(value, undefined, 2);
  writer.out(`${text.replace(/[\x7f-\x9f\p{Cf}\u2028\u2029]/gu, jsonEscape)}\n`);
}

/** The text with every control and formatting character (Unicode Cc, Cf, Zl, Zp, lone surrogates) as a visible escape. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
    return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`;
  });
}

/** A number with its noun: "1 user", "2 users". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A record's timestamp without its milliseconds, still RFC 3339; "-" where there is none. */
export function shortTime(timestamp: string | null): string {
  return timestamp === null ? "-" : timestamp.replace(/\.\d+Z$/, "Z");
}

/** Takes from the widest column that may shrink until the line fits, or none can shrink any more. */
function fit<T>(columns: readonly Column<T>[], widths: readonly number[], available: number | undefined): number[] {
  const fitted = [...widths];
  if (available === undefined) return fitted;
  let excess = fitted.reduce((sum, width) => sum + width, 0) + GAP.length * (columns.length - 1) - available;
  while (excess > 0) {
    const widest = columns.reduce(
      (best, column, index) =>
        column.shrinks && (fitted[index] ?? 0) > Math.max(NARROWEST, fitted[best] ?? 0) ? index : best,
      -1,
    );
    if (widest === -1) break;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
    excess -= 1;
  }
  return fitted;
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

function jsonEscape(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
