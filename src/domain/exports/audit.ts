/** The audit log as CSV (RFC 4180), in blocks that the database writes: no connection is held while a client is slow. */

import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { auditRange } from "../audit/audit.ts";
import type { Context } from "../operation/context.ts";
import type { ExportPlaces } from "./places.ts";
import { exportFile } from "./stream.ts";

/** Both inclusive. */
export interface ExportRange {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** Records that are read at once: a block of the longest possible records takes about 10 MB. */
const BLOCK = 2500;
/** Blocks that the database prepares while the one before them is being sent. */
const AHEAD = 2;

const HEADER = [
  "id",
  "created_at",
  "actor_type",
  "actor",
  "action",
  "resource_type",
  "resource_id",
  "detail",
  "result",
  "ip",
] as const;

/** A byte order mark, so that spreadsheets recognise UTF-8. */
const BEGINNING = new TextEncoder().encode(`\uFEFF${HEADER.join(",")}\r\n`);

/**
 * The records within `range` that exist at the call, oldest first, as UTF-8 CSV with a header row; on record, as `exportFile` says. The
 * export's own record is not among them.
 */
export async function exportAudit(
  context: Context,
  range: ExportRange,
  places: ExportPlaces,
  patience?: number,
): Promise<ReadableStream<Uint8Array>> {
  const { since, until } = range;
  const detail = { ...(since && { since: formatTimestamp(since) }), ...(until && { until: formatTimestamp(until) }) };
  return await exportFile(context, {
    ...{ entry: { action: "audit.export", detail }, places, patience },
    open: async () => {
      // The log only grows at its end, so the newest number at the start bounds one state of it.
      const { first, last } = await auditRange(context.db, since, until);
      return { beginning: BEGINNING, read: readAhead(context, first - 1, last) };
    },
  });
}

/**
 * Reads the records above `after` up to `last`, block by block, `AHEAD` blocks before they are asked for, skipping what
 * retention removed meanwhile. Blocks are bounded by ids, not by a limit: so the next can be read at the same time, and a
 * planner without statistics does not sort everything that is left for each block (a million took 93 s).
 */
function readAhead(context: Context, after: number, last: number): () => Promise<Uint8Array | undefined> {
  const coming: Promise<Uint8Array | null>[] = [];
  let next = after;
  return async () => {
    for (;;) {
      while (coming.length <= AHEAD && next < last) {
        const block = readBlock(context, next, Math.min(next + BLOCK, last));
        // The consumer of the block gets its failure; once the stream is over there is no consumer.
        block.catch(() => {});
        coming.push(block);
        next += BLOCK;
      }
      const block = coming.shift();
      if (block === undefined) return undefined;
      const lines = await block;
      if (lines !== null) return lines;
    }
  };
}

/** Returns the bytes as received: decoding and encoding them again is a fifth of the cost of an export. */
async function readBlock({ db }: Context, after: number, end: number): Promise<Uint8Array | null> {
  const [row] = await db.$client.unsafe<[(Uint8Array | null)[]]>(SELECT_BLOCK, [after, end], { prepare: true }).raw();
  return row?.[0] ?? null;
}

/**
 * The same text as to_char(), in a third of the time: the added microsecond keeps trailing zeros, and is cut off with the rest.
 * An interval needs no zone lookup.
 */
const TIME = "substr(to_json(timezone(interval '0', created_at) + interval '1 microsecond')::text, 2, 23)";

/**
 * Separators of cells or lines in spreadsheets of some countries. Looking for each costs as much as quoting, so only the possible ones are looked
 * for.
 */
const SEPARATORS = [";", "\\t", "\\r", "\\n"];

/**
 * One record as a line. Columns that submitted text can reach are quoted, and guarded; the others hold only our own words, digits and
 * addresses. The detail is JSON: it has no line ends or tabs but as escapes.
 */
const LINE = [
  "id::text || ','",
  TIME,
  "'Z,' || actor_type",
  quoted("actor", ","),
  "'\",' || action || ',' || resource_type",
  quoted("resource_id", ","),
  quoted("detail", '",', [";"]),
  "'\",' || result || ',\"'",
  "ip || E'\"\\r\\n'",
].join(" || ");

const SELECT_BLOCK = `select string_agg(${LINE}, '' order by id) from public.audit where id > $1 and id <= $2`;

/**
 * The text of a column after `before`, an opening quotation mark. An apostrophe goes in front of anything that a spreadsheet would run
 * as a formula: = + - @, also in full width, a tab, a carriage return. It also goes after a semicolon or a line end: spreadsheets of
 * many countries separate cells there, and then recognise no quotes within a line. Letters, digits and braces are the most frequent,
 * so they are tested first.
 */
function quoted(column: "actor" | "resource_id" | "detail", before: string, separators = SEPARATORS): string {
  const first = `ascii(${column})`;
  const breaks = separators.map((character) => `strpos(${column}, E'${character}')`).join(" + ");
  const text = `case when ${breaks} > 0 then regexp_replace(${column}, '([;\\t\\r\\n][\\s"]*)(?=[-=+@＝＋－＠])', '\\1''', 'g')
    else ${column} end`;
  return `case when ${first} between 65 and 65000 or ${first} between 46 and 60 then '${before}"'
    when ${first} in (61, 43, 45, 64, 9, 13, 65309, 65291, 65293, 65312) then '${before}"''' else '${before}"' end
    || replace(${text}, '"', '""')`;
}
