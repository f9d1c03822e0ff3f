/** Files that are made while they are read: on record, a few at a time, and given up if nobody reads them. */

import { clearTimeout, setTimeout } from "node:timers";
import { UamError } from "../../shared/errors.ts";
import { MINUTE } from "../../shared/time/clock.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import type { AuditDetail, AuditEntry } from "../operation/entry.ts";
import type { ExportPlace, ExportPlaces } from "./places.ts";

/** A reader that takes nothing for this long counts as gone, and its place is freed. */
const STALLED = 10 * MINUTE;

/** The content of a file. */
export interface Content {
  /** What the file begins with, before anything is read; may be empty. */
  readonly beginning: Uint8Array;
  /** What comes next, in whole lines; undefined after the last. */
  readonly read: () => Promise<Uint8Array | undefined>;
}

export interface Export {
  /** Its record. */
  readonly entry: AuditEntry;
  readonly places: ExportPlaces;
  /** How long the reader may take nothing, in milliseconds; ten minutes if undefined. */
  readonly patience?: number | undefined;
  /** Finds what is to be exported, at the call. */
  readonly open: () => Promise<Content>;
}

/**
 * The content as a stream. When this returns, the export is on record and its first block has been read, so a failure up to then is
 * thrown, and recorded; a later one aborts the stream. Holds a place until the stream ends, fails, is cancelled, gives way, or is not
 * read from for `patience`; throws `limited`, unrecorded, when none is free.
 */
export async function exportFile(
  context: Context,
  { entry, places, patience = STALLED, open }: Export,
): Promise<ReadableStream<Uint8Array>> {
  const place = takePlace(context, places);
  try {
    const prepare = async () => {
      const { beginning, read } = await open();
      return { lines: concatenated(beginning, await read()), read };
    };
    const source = await audited(context, entry, { prepare, run: async (_, prepared) => prepared });
    return toStream(context, { ...source, place, patience });
  } catch (error) {
    place.release();
    throw error;
  }
}

/** A place of the caller's, whatever token they ask by; throws `limited` when none is free. */
export function takePlace({ actor }: Pick<Context, "actor">, places: ExportPlaces): ExportPlace {
  return places.take(`${actor.type} ${actor.owner ?? actor.name}`);
}

/** The words of a filter that are given, for the record. */
export function given(words: Readonly<Record<string, AuditDetail[string] | undefined>>): AuditDetail {
  return Object.fromEntries(
    Object.entries(words).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
}

/** The parts of a stream. */
interface Source {
  /** What is sent first. */
  readonly lines: Uint8Array;
  readonly read: Content["read"];
  readonly place: ExportPlace;
  readonly patience: number;
}

function toStream(context: Context, { lines: first, read, place, patience }: Source): ReadableStream<Uint8Array> {
  let lines = first;
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
    context.log.error("an export broke off", { requestId: context.requestId, error });
    // The runtime prints this error, so it must not hold the database's words.
    controller.error(new UamError("internal", "The export was interrupted; the log says why"));
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
          // An empty piece would end the response.
          if (lines.length > 0) controller.enqueue(lines);
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

function concatenated(beginning: Uint8Array, rest: Uint8Array | undefined): Uint8Array {
  return rest === undefined ? beginning : Buffer.concat([beginning, rest]);
}
