/** The audit log as CSV (RFC 4180), in blocks that the database writes: no connection is held while a client is slow. */

import { clearTimeout, setTimeout } from "node:timers";
import { UamError } from "../../shared/errors.ts";
import { MINUTE } from "../../shared/time/clock.ts";
import type { Context } from "../operation/context.ts";
import { auditRange } from "./audit.ts";
import type { ExportPlace, ExportPlaces } from "./export-places.ts";

/** Both inclusive. */
export interface ExportRange {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** Records that are read at once: a block of the longest possible records takes about 10 MB. */
const BLOCK = 2500;
/** Blocks that the database prepares while the one before them is being sent. */
const AHEAD = 2;
/** A reader that takes nothing for this long counts as gone, and its slot is freed. */
const STALLED = 10 * MINUTE;

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
 * The records within `range` that exist at the call, oldest first, as UTF-8 CSV with a header row. When it returns, the first block has been
 * read, so a failure up to then is thrown; a later one aborts the stream. Holds a place until the stream ends, fails, is cancelled, gives
 * way, or is not read from for `patience` (ten minutes); throws `limited` when none is free.
 */
export async function exportAudit(
  context: Context,
  range: ExportRange,
  places: ExportPlaces,
  patience = STALLED,
): Promise<ReadableStream<Uint8Array>> {
  const { actor } = context;
  const place = places.take(`${actor.type} ${actor.owner ?? actor.name}`);
  try {
    // The log only grows at its end, so the newest number at the start bounds one state of it.
    const { first, last } = await auditRange(context.db, range.since, range.until);
    const read = readAhead(context, first - 1, last);
    return toStream(context, { first: await read(), read, place, patience });
  } catch (error) {
    place.release();
    throw error;
  }
}

/** The parts of a stream. */
interface Source {
  readonly first: Uint8Array | undefined;
  /** Whole lines, in the order of the log; undefined after the last. */
  readonly read: () => Promise<Uint8Array | undefined>;
  readonly place: ExportPlace;
  /** How long the reader may take nothing, in milliseconds. */
  readonly patience: number;
}

function toStream(context: Context, { first, read, place, patience }: Source): ReadableStream<Uint8Array> {
  let lines = concatenated(BEGINNING, first);
  let watch: NodeJS.Timeout | undefined;
  let isOver = false;
  const end = () => {
    isOver = true;
    clearTimeout(watch);
    place.release();
  };
  const fail = (controller: ReadableStreamDefaultController<Uint8Array>, error: unknown) => {
    // Cancelled while a block was being read: there is no reader to tell.
    if (isOver) return;
    end();
    context.log.error("an audit export broke off", { requestId: context.requestId, error });
    // The runtime prints this error, so it must not hold the database's words.
    controller.error(new UamError("internal", "The audit export was interrupted; the log says why"));
  };
  const watchReader = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    clearTimeout(watch);
    place.waits();
    const stalled = () => fail(controller, new UamError("internal", "The export was not read for ten minutes"));
    watch = setTimeout(stalled, patience).unref();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        place.onGivingWay(() =>
          fail(controller, new UamError("internal", "The export was not read, and gave way to another")),
        );
        watchReader(controller);
      },
      async pull(controller) {
        clearTimeout(watch);
        place.isRead();
        try {
          controller.enqueue(lines);
          const next = await read();
          if (isOver) return;
          if (next === undefined) {
            end();
            return controller.close();
          }
          lines = next;
          watchReader(controller);
        } catch (error) {
          fail(controller, error);
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
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

function concatenated(beginning: Uint8Array, rest: Uint8Array | undefined): Uint8Array {
  return rest === undefined ? beginning : Buffer.concat([beginning, rest]);
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
