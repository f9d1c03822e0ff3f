/** The audit log as CSV (RFC 4180), in blocks that the database writes: no connection is held while a client is slow. */

import { clearTimeout, setTimeout } from "node:timers";
import { sql } from "drizzle-orm";
import type { Slots } from "../../shared/bounded.ts";
import { MINUTE } from "../../shared/clock.ts";
import { UamError } from "../../shared/errors.ts";
import { preparedOnce } from "../../store/client.ts";
import { audit } from "../../store/schema-audit.ts";
import type { Context } from "../operation/context.ts";
import { auditRange } from "./audit.ts";

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

/** A byte order mark tells spreadsheets that it is UTF-8. */
const BEGINNING = `\uFEFF${HEADER.join(",")}\r\n`;

/**
 * The records within `range` that exist when it is called, oldest first, as UTF-8 CSV with a header row. When it
 * returns, the first block has been read, so a failure up to then is thrown; a later one aborts the stream. Holds a slot
 * until the stream ends, fails, is cancelled, or is not read from for ten minutes; throws `limited` when none is free.
 */
export async function exportAudit(
  context: Context,
  range: ExportRange,
  slots: Slots,
): Promise<ReadableStream<Uint8Array>> {
  const release = slots.take();
  try {
    // The log only grows at its end, so the newest number at the start bounds one state of it.
    const { first, last } = await auditRange(context.db, range.since, range.until);
    const read = readAhead(context, first - 1, last);
    return toStream(context, { first: await read(), read, release });
  } catch (error) {
    release();
    throw error;
  }
}

/** What a stream is made of. */
interface Source {
  readonly first: string | undefined;
  /** Whole lines, in the order of the log; undefined after the last. */
  readonly read: () => Promise<string | undefined>;
  readonly release: () => void;
}

function toStream(context: Context, { first, read, release }: Source): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let lines = first;
  let text = BEGINNING;
  let watch: NodeJS.Timeout | undefined;
  let isOver = false;
  const end = () => {
    isOver = true;
    clearTimeout(watch);
    release();
  };
  const fail = (controller: ReadableStreamDefaultController<Uint8Array>, error: unknown) => {
    // Cancelled while a block was being read: nobody is left to tell.
    if (isOver) return;
    end();
    context.log.error("an audit export broke off", { requestId: context.requestId, error });
    // The runtime prints what it is given here: not the database's words.
    controller.error(new UamError("internal", "The audit export broke off; the log says why"));
  };
  const watchReader = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    clearTimeout(watch);
    const stalled = () => fail(controller, new UamError("internal", "The export was not read for ten minutes"));
    watch = setTimeout(stalled, STALLED).unref();
  };
  return new ReadableStream<Uint8Array>(
    {
      start: watchReader,
      async pull(controller) {
        clearTimeout(watch);
        try {
          controller.enqueue(encoder.encode(text + (lines ?? "")));
          text = "";
          if (lines !== undefined) lines = await read();
          if (isOver) return;
          if (lines !== undefined) return watchReader(controller);
          end();
          controller.close();
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
function readAhead(context: Context, after: number, last: number): () => Promise<string | undefined> {
  const coming: Promise<string | null>[] = [];
  let next = after;
  return async () => {
    for (;;) {
      while (coming.length <= AHEAD && next < last) {
        const block = readBlock(context, next, Math.min(next + BLOCK, last));
        // Whoever takes the block gets its failure; once the stream is over, nobody does.
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

async function readBlock({ db }: Context, after: number, end: number): Promise<string | null> {
  const [row] = await selectBlock(db).execute({ after, end });
  return row?.lines ?? null;
}

const selectBlock = preparedOnce((db) =>
  db
    .select({ lines: sql<string | null>`string_agg(${line()}, '' order by id)` })
    .from(audit)
    .where(sql`id > ${sql.placeholder("after")} and id <= ${sql.placeholder("end")}`)
    .prepare("export_audit"),
);

/** One record as a line. Columns that submitted text can reach are quoted; the others hold only our own words and digits. */
function line() {
  // What to_char() gives, in a third of the time; the added microsecond keeps trailing zeros, and is cut off with the rest.
  const time = sql`substr(to_json(created_at at time zone 'UTC' + interval '1 microsecond')::text, 2, 23) || 'Z'`;
  const columns = [
    sql`id::text`,
    time,
    sql`actor_type`,
    quoted("actor"),
    sql`action`,
    sql`resource_type`,
    quoted("resource_id"),
    quoted("detail"),
    sql`result`,
    quoted("ip"),
  ];
  return sql`${sql.join(columns, sql` || ',' || `)} || E'\\r\\n'`;
}

/**
 * Quoted, and with an apostrophe before what a spreadsheet would run as a formula: = + - @, also in full width, a tab, a carriage
 * return. So also after a semicolon, or what ends a line: spreadsheets of many countries separate cells by it, and then know
 * no quotes within a line.
 */
function quoted(column: "actor" | "resource_id" | "detail" | "ip") {
  const name = sql.identifier(column);
  const formula = sql`'([;\\t\\r\\n]\\s*)(?=[-=+@＝＋－＠])'`;
  const text = sql`case when ${name} ~ ${formula} then regexp_replace(${name}, ${formula}, '\\1''', 'g') else ${name} end`;
  const isFormula = sql`ascii(${name}) in (61, 43, 45, 64, 9, 13, 65309, 65291, 65293, 65312)`;
  return sql`case when ${isFormula} then '"''' else '"' end || replace(${text}, '"', '""') || '"'`;
}
