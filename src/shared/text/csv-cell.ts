/** Values of a CSV file (RFC 4180) that no spreadsheet takes for a formula, and that can be read back exactly. */

/**
 * Where a formula could begin: at the beginning, and after what separates cells or lines in spreadsheets of some countries, which
 * recognise no quotes within a line. Full-width signs count, too; so does the apostrophe, so that the guard can be taken away again.
 */
const BEGINNING = /(?=[-=+@＝＋－＠\t\r'])(?<=^|[;\t\r\n][\s"]*?)/g;
const GUARD = /'(?=[-=+@＝＋－＠\t\r'])(?<=(?:^|[;\t\r\n][\s"]*?)')/g;

/** Whether there is anything to look at: most values have nothing of it. */
const SPECIAL = /[;\t\r\n]|^[-=+@＝＋－＠']/;
const PLAIN = /^[\w.:@ -]*$/;

/** The value as a cell: with an apostrophe where a formula could begin, and quoted unless it is plain. */
export function csvCell(value: string): string {
  const guarded = SPECIAL.test(value) ? value.replace(BEGINNING, "'") : value;
  return PLAIN.test(guarded) ? guarded : `"${guarded.replaceAll('"', '""')}"`;
}

/** The value whose cell holds this text; any text without guards as it is. */
export function unguarded(text: string): string {
  return text.includes("'") ? text.replace(GUARD, "") : text;
}

/** A line of these cells. */
export function csvLine(values: readonly string[]): string {
  return `${values.map(csvCell).join()}\r\n`;
}

/** How a file with these columns begins: with a byte order mark, so that spreadsheets recognise UTF-8. */
export function csvBeginning(columns: readonly string[]): string {
  return `\uFEFF${columns.join()}\r\n`;
}
