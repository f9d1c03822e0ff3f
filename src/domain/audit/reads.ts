/** Who reads the log is on record, too: once for each session or token and hour, or every page would be a record of its own. */

import { HOUR } from "../../shared/time/clock.ts";
import { hashToken, hexOf } from "../auth/sessions/sessions.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";

/** Whose reading is on record, in one hour of the clock. */
export interface AuditReads {
  hour: number;
  /** The records of this hour, by the hash of the session or token; one that is being written is waited for. */
  readonly records: Map<string, Promise<void>>;
}

/** Knows nobody at first: after a restart somebody may be recorded once more. */
export function createAuditReads(): AuditReads {
  return { hour: Number.NaN, records: new Map() };
}

/**
 * When this returns, it is on record that the session or token with this secret has read the log in this hour. Call it after the read, and
 * hand nothing out before: throws, and tries again at the next read, if it could not be recorded.
 */
export async function recordRead(context: Context, secret: string, reads: AuditReads): Promise<void> {
  const hour = Math.floor(context.clock.now().getTime() / HOUR);
  if (hour !== reads.hour) reads.records.clear();
  reads.hour = hour;
  const { records } = reads;
  const reader = hexOf(hashToken(secret));
  const known = records.get(reader);
  if (known !== undefined) return await known;
  const recorded = audited(context, { action: "audit.read" }, async () => {});
  records.set(reader, recorded);
  try {
    await recorded;
  } catch (error) {
    if (records.get(reader) === recorded) records.delete(reader);
    throw error;
  }
}
