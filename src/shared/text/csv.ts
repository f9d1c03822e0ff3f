/**
 * Reads CSV (RFC 4180) of which each line's faults are to be told: a broken record costs only itself, and each has its line in the file.
 */

/** The separators of values in a record. */
export type Separator = "," | ";" | "\t";

/** One record: its values, or what is wrong with it. `line` is the file's own, from 1: a value may hold line ends. */
export type CsvRecord =
  | { readonly line: number; readonly values: readonly string[] }
  | { readonly line: number; readonly fault: string };

const MIDDLE = "A quotation mark is in the middle of a value: quote the whole value, and double the marks within it";
const AFTER = "Something follows a closing quotation mark: double the quotation marks within a value";
const MANY = "The line has more than 100 values";
const OPEN = "The quotation mark that a value begins with is never closed: the rest of the file cannot be read";

/** Values of one record: nobody's table is wider, and each value costs more than its separator. */
const MOST_VALUES = 100;

/** What the first line has most of, outside quotation marks; a comma where it has none. */
export function separatorOf(text: string): Separator {
  const counts: Record<Separator, number> = { ",": 0, ";": 0, "\t": 0 };
  let isQuoted = false;
  for (const character of firstLine(text)) {
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && character in counts) counts[character as Separator]++;
  }
  return counts[";"] > counts[","] || counts["\t"] > counts[","] ? (counts["\t"] > counts[";"] ? "\t" : ";") : ",";
}

/** The first MiB at most: nobody's header is longer. */
function firstLine(text: string): string {
  return text.slice(0, 1 << 20).split(/[\r\n]/, 1)[0] ?? "";
}

/**
 * The records of the text, one by one, in time linear in its length. A line end is CRLF, LF or CR; empty lines are skipped. After a
 * broken record reading goes on with the next line.
 */
export function* csvRecords(text: string, separator: Separator): Generator<CsvRecord, void> {
  let at = text.startsWith("\uFEFF") ? 1 : 0;
  let line = 1;
  while (at < text.length) {
    const begin = at;
    const read = readRecord(text, at, separator);
    const first = line;
    for (at = read.end; at < text.length && isLineEnd(text[at]); at = afterLineEnd(text, at)) line++;
    line += read.lineEnds;
    if (read.fault !== undefined) yield { line: first, fault: read.fault };
    else if (read.end > begin) yield { line: first, values: read.values };
  }
}

interface Read {
  readonly values: readonly string[];
  readonly fault?: string;
  /** The line end after it, or the end of the text. */
  readonly end: number;
  /** Line ends within its values. */
  readonly lineEnds: number;
}

function readRecord(text: string, begin: number, separator: Separator): Read {
  const values: string[] = [];
  let at = begin;
  let lineEnds = 0;
  const broken = (fault: string): Read => ({ values, fault, end: endOfLine(text, at), lineEnds });
  for (;;) {
    if (values.length === MOST_VALUES) return broken(MANY);
    if (text[at] === '"') {
      const quoted = readQuoted(text, at);
      if (quoted === undefined) return { values, fault: OPEN, end: text.length, lineEnds };
      values.push(quoted.value);
      lineEnds += quoted.lineEnds;
      at = quoted.end;
      if (at < text.length && text[at] !== separator && !isLineEnd(text[at])) return broken(AFTER);
    } else {
      const from = at;
      while (at < text.length && text[at] !== separator && !isLineEnd(text[at])) {
        if (text[at] === '"') return broken(MIDDLE);
        at++;
      }
      values.push(text.slice(from, at));
    }
    if (text[at] !== separator) return { values, end: at, lineEnds };
    at++;
  }
}

/** The value whose opening quotation mark is there; undefined if it is never closed. */
function readQuoted(text: string, begin: number) {
  let end = begin + 1;
  let hasMarks = false;
  for (;;) {
    end = text.indexOf('"', end);
    if (end < 0) return undefined;
    if (text[end + 1] !== '"') break;
    hasMarks = true;
    end += 2;
  }
  const value = text.slice(begin + 1, end);
  return {
    value: hasMarks ? value.replaceAll('""', '"') : value,
    end: end + 1,
    lineEnds: value.match(/\r\n|\r|\n/g)?.length ?? 0,
  };
}

function isLineEnd(character: string | undefined): boolean {
  return character === "\n" || character === "\r";
}

function afterLineEnd(text: string, at: number): number {
  return at + (text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1);
}

function endOfLine(text: string, begin: number): number {
  let at = begin;
  while (at < text.length && !isLineEnd(text[at])) at++;
  return at;
}
