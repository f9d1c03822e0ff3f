/** The audit log as CSV (RFC 4180), in blocks that the database writes: no connection is held while a client is slow. */

import { clearTimeout, setTimeout } from "node:timers";
import { sql } from "drizzle-orm";
import { MINUTE } from "../core/clock.ts";
import type { Context } from "../core/context.ts";
import { UamError } from "../core/errors.ts";
import type { Slots } from "../core/slots.ts";
import { auditRange } from "./audit.ts";

/** Both inclusive. */
export interface ExportRange {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

const BLOCK = 5000;
/** A reader that takes nothing for so long is gone, and gives its slot back. */
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
 * The records within `range` that were there when it was called, oldest first, as UTF-8 CSV with a header row. When it
 * returns, the first block has been read, so a failure up to then is thrown; a later one breaks the stream off. Holds a slot
 * until the stream ends, fails, is cancelled, or is not read from for ten minutes; throws `limited` when none is free.
 */
export async function exportAudit(
  context: Context,
  range: ExportRange,
  slots: Slots,
): Promise<ReadableStream<Uint8Array>> {
  const release = slots.take();
  try {
    // The log only grows at its end, so the newest number at the beginning bounds one state of it.
    const { first, last } = await auditRange(context.db, range.since, range.until);
    return toStream(
      context,
      await readBlock(context, { after: first - 1, last }),
      (after) => readBlock(context, { after, last }),
      release,
    );
  } catch (error) {
    release();
    throw error;
  }
}

interface Block {
  /** Whole lines, or null after the last one. */
  readonly lines: string | null;
  /** The id that the next block begins after. */
  readonly end: number;
}

interface Reach {
  readonly after: number;
  readonly last: number;
}

function toStream(
  context: Context,
  first: Block,
  read: (after: number) => Promise<Block>,
  release: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let block = first;
  let text = BEGINNING;
  let watch: NodeJS.Timeout | undefined;
  let isOver = false;
  const end = () => {
    isOver = true;
    clearTimeout(watch);
    release();
  };
  const fail = (controller: ReadableStreamDefaultController<Uint8Array>, error: unknown) => {
    // Cancelled while a block was being read: nobody is left to be told.
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
          controller.enqueue(encoder.encode(text + (block.lines ?? "")));
          text = "";
          if (block.lines !== null) block = await read(block.end);
          if (isOver) return;
          if (block.lines !== null) return watchReader(controller);
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
 * The next records after `after`, passing over what retention removed meanwhile. A block is bounded by ids instead of a
 * limit: where the planner has no statistics yet, it would sort all that is left for each block (a million took 93 s).
 */
async function readBlock(context: Context, { after, last }: Reach): Promise<Block> {
  for (let begin = after; begin < last; begin += BLOCK) {
    const end = Math.min(begin + BLOCK, last);
    const [row] = await context.db.execute<{ lines: string | null }>(sql`
      select string_agg(${line()}, '' order by id) as lines from audit where id > ${begin} and id <= ${end}`);
    if (typeof row?.lines === "string") return { lines: row.lines, end };
  }
  return { lines: null, end: last };
}

/** One record as a line. Columns that anyone's text can reach are quoted; the others hold words and digits of ours. */
function line() {
  const time = sql`to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
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

/** Quoted, and with an apostrophe before what a spreadsheet would run as a formula. */
function quoted(column: "actor" | "resource_id" | "detail" | "ip") {
  const name = sql.identifier(column);
  return sql`'"' || case when ${name} ~ '^[=+\\-@\\t\\r]' then '''' else '' end || replace(${name}, '"', '""') || '"'`;
}
