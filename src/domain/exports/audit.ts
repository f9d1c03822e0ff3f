/** The audit log as CSV (RFC 4180) or lines of JSON, in blocks that the database writes: no connection is held while a client is slow. */

import type { ExportFormat } from "../../shared/product/export-formats.ts";
import { csvBeginning } from "../../shared/text/csv-cell.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { type AuditFilter, type AuditRange, auditRange } from "../audit/audit.ts";
import { hasResult, holdsText, matchingPage, type Parameter, parseSearch } from "../audit/matching.ts";
import type { Context } from "../operation/context.ts";
import type { AuditDetail } from "../operation/entry.ts";
import { exportFile, given } from "./export-file.ts";
import type { ExportPlaces } from "./places.ts";

/** A file of audit records. */
export interface AuditFile {
  readonly format: ExportFormat;
  readonly places: ExportPlaces;
  /** How long its reader may take nothing, in milliseconds. */
  readonly patience?: number;
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

const BEGINNINGS: Readonly<Record<ExportFormat, Uint8Array>> = {
  csv: new TextEncoder().encode(csvBeginning(HEADER)),
  jsonl: new Uint8Array(),
};

/**
 * The records that match the filter and exist at the call, oldest first, as CSV with a header row or as lines of JSON; on record, as
 * `exportFile` says. The export's own record is not among them. Unlike a list, it looks for a text or a result through all of them. Throws `invalid` for
 * a search that no record could hold.
 */
export async function exportAudit(
  context: Context,
  filter: AuditFilter,
  { format, places, patience }: AuditFile,
): Promise<ReadableStream<Uint8Array>> {
  const search = parseSearch(filter.search);
  return await exportFile(context, {
    ...{ entry: { action: "audit.export", detail: { format, ...wordsOf(filter) } }, places, patience },
    open: async () => {
      // The log only grows at its end, so the newest number at the start bounds one state of it.
      const range = await auditRange(context.db, filter.since, filter.until);
      const blocks = await blocksOf(context, { filter, range, search, line: LINES[format] });
      return { beginning: BEGINNINGS[format], read: readAhead(blocks) };
    },
  });
}

/** The filter under the names of the API. */
function wordsOf({ userId, resourceType, resourceId, since, until, search, ...same }: AuditFilter): AuditDetail {
  const { actor, action, result } = same;
  return given({
    ...{ user_id: userId, actor, action, resource_type: resourceType, resource_id: resourceId, result, q: search },
    ...{ since: since && formatTimestamp(since), until: until && formatTimestamp(until) },
  });
}

interface Wanted {
  readonly filter: AuditFilter;
  readonly range: AuditRange;
  readonly search: string;
  /** SQL of a record's line. */
  readonly line: string;
}

type Block = () => Promise<Uint8Array | null>;

/**
 * The blocks, oldest first. Those of all records are bounded by ids, not by a limit: so the next can be read at the same time, and a planner
 * without statistics does not sort everything that is left for each block (a million took 93 s). Those of a filter are pages, counted from
 * the newest, which retention does not move.
 */
async function blocksOf({ db }: Context, { filter, range, search, line }: Wanted): Promise<Iterator<Block>> {
  const run = async (text: string, parameters: readonly Parameter[]) => {
    const [row] = await db.$client.unsafe<[unknown[]]>(text, [...parameters], { prepare: true }).raw();
    return row?.[0];
  };
  // The bytes as received: decoding and encoding them again is a fifth of the cost of an export.
  const read = (where: string, parameters: readonly Parameter[], from = "") => {
    const words = search === "" ? undefined : holdsText(search, parameters.length);
    const condition = [where, ...hasResult(filter.result), ...(words === undefined ? [] : [words.text])].join(" and ");
    const text = `select string_agg(${line}, '' order by id) from ${from}public.audit where ${condition}`;
    return async () => ((await run(text, [...parameters, ...(words?.parameters ?? [])])) ?? null) as Uint8Array | null;
  };
  const page = matchingPage(filter, range);
  if (page === undefined) return eachBlock(range.first - 1, range.last, (after, end) => read(BETWEEN, [after, end]));
  const total = Number(String(await run(`select total::text from ${page.text}`, [...page.parameters, 0, 1])));
  return eachBlock(0, total, (after, end) =>
    read("id = any(page.ids)", [...page.parameters, total - end, end - after], `${page.text} page, `),
  );
}

const BETWEEN = "id > $1 and id <= $2";

function* eachBlock(after: number, last: number, make: (after: number, end: number) => Block): Generator<Block, void> {
  for (let next = after; next < last; next += BLOCK) yield make(next, Math.min(next + BLOCK, last));
}

/** Reads the blocks in their order, `AHEAD` before they are asked for, skipping those of which retention or the search left nothing. */
function readAhead(blocks: Iterator<Block>): () => Promise<Uint8Array | undefined> {
  const coming: Promise<Uint8Array | null>[] = [];
  return async () => {
    for (;;) {
      for (let next = blocks.next(); next.done !== true; next = blocks.next()) {
        const block = next.value();
        // The consumer of the block gets its failure; once the stream is over there is no consumer.
        block.catch(() => {});
        coming.push(block);
        if (coming.length > AHEAD) break;
      }
      const block = coming.shift();
      if (block === undefined) return undefined;
      const lines = await block;
      if (lines !== null) return lines;
    }
  };
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
const CSV_LINE = [
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

/** The same as JSON, in the shape of the API's records. */
const JSON_LINE = [
  `'{"id":' || id::text || ',"created_at":"'`,
  TIME,
  `'Z","actor_type":"' || actor_type || '","actor":' || to_json(actor)::text || ',"action":"' || action`,
  `'","resource_type":"' || resource_type || '","resource_id":' || to_json(resource_id)::text || ',"detail":'`,
  `to_json(detail)::text || ',"result":"' || result || '","ip":"' || ip || E'"}\\n'`,
].join(" || ");

const LINES: Readonly<Record<ExportFormat, string>> = { csv: CSV_LINE, jsonl: JSON_LINE };

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
