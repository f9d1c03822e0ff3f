/** Verifying the audit log: every record against its seal and the one before, from the last checkpoint to the head. */

import { asc, desc, gt, lte } from "drizzle-orm";
import type { Transaction } from "../../store/client.ts";
import { type AuditRow, audit, auditCheckpoints } from "../../store/schema-audit.ts";
import type { Seal, Services } from "../operation/context.ts";
import { type AuditHead, describeHead, readHead } from "./head.ts";
import { hex, sameSeal } from "./seal.ts";

/** The first place where the log is not as the service wrote it. */
export interface AuditFault {
  /** `checkpoint`: the service did not make the checkpoint. `head`: the log does not end where it should. */
  readonly kind: "altered" | "removed" | "inserted" | "checkpoint" | "head";
  /** Number of the first record concerned. */
  readonly id: number;
  /** A sentence that names it. */
  readonly message: string;
}

export interface Verification {
  readonly fault: AuditFault | undefined;
  /** How many records are as they were written, up to the fault if there is one. */
  readonly verified: number;
  /** Number of the last record that retention removed; 0 if none. */
  readonly start: number;
  readonly head: AuditHead;
}

const BLOCK = 1000;

interface Position {
  readonly id: number;
  readonly mac: Uint8Array;
}

/**
 * Reads the whole log in blocks, from one snapshot, and stops at the first fault. `known` is a head from outside the
 * database: without one, removing records at the end together with the stored head goes unnoticed.
 */
export async function verifyAudit(services: Pick<Services, "db" | "seal">, known?: AuditHead): Promise<Verification> {
  return await services.db.transaction(
    async (tx) => {
      const head = await readHead(tx);
      const { start, fault } = await readStart(tx, services.seal);
      if (fault !== undefined) return { fault, verified: 0, start: start.id, head };
      const walk = await verifyRecords(tx, services.seal, start, known);
      const verified = walk.end.id - start.id;
      return { fault: walk.fault ?? compareEnd(walk.end, start, head, known), verified, start: start.id, head };
    },
    { isolationLevel: "repeatable read", accessMode: "read only" },
  );
}

/** Where the log begins: after the newest checkpoint, if the service made it, else at the very beginning. */
async function readStart(tx: Transaction, seal: Seal): Promise<{ start: Position; fault: AuditFault | undefined }> {
  const [mark] = await tx.select().from(auditCheckpoints).orderBy(desc(auditCheckpoints.id)).limit(1);
  if (mark === undefined) return { start: { id: 0, mac: new Uint8Array() }, fault: undefined };
  const start = { id: mark.id, mac: mark.mac };
  const expected = seal.checkpoint(mark.id, mark.createdAt, mark.mac, mark.purgedAt);
  if (sameSeal(expected, mark.seal)) return { start, fault: undefined };
  const message = `The checkpoint at record ${mark.id} was not made by the service: records up to ${mark.id} were removed by someone else.`;
  return { start, fault: { kind: "checkpoint", id: mark.id, message } };
}

async function verifyRecords(
  tx: Transaction,
  seal: Seal,
  start: Position,
  known: AuditHead | undefined,
): Promise<{ end: Position; fault: AuditFault | undefined }> {
  let end = start;
  let rows = await readBlock(tx, end.id);
  for (;;) {
    // The database reads the next block while this one is checked.
    const last = rows.at(-1);
    const following = last === undefined || rows.length < BLOCK ? undefined : readBlock(tx, last.id);
    for (const [index, row] of rows.entries()) {
      const fault = checkRecord(seal, end, row, rows[index + 1]) ?? checkKnown(row, known);
      if (fault !== undefined) {
        await following;
        return { end, fault };
      }
      end = { id: row.id, mac: row.mac };
    }
    if (following === undefined) return { end, fault: await checkBelow(tx, start) };
    rows = await following;
  }
}

async function readBlock(tx: Transaction, after: number): Promise<readonly AuditRow[]> {
  return await tx
    .select()
    .from(audit)
    .where(gt(audit.id, after))
    .orderBy(asc(audit.id))
    .limit(BLOCK)
    .prepare("verify_audit")
    .execute();
}

function checkRecord(seal: Seal, before: Position, row: AuditRow, next: AuditRow | undefined): AuditFault | undefined {
  const expected = before.id + 1;
  if (row.id !== expected) {
    const which = row.id - 1 === expected ? `Record ${expected} was` : `Records ${expected} to ${row.id - 1} were`;
    return { kind: "removed", id: expected, message: `${which} removed.` };
  }
  if (sameSeal(seal.record(before.mac, row), row.mac)) return undefined;
  // The next record's seal covers the seal that stood here or, if this record was inserted, the seal before it.
  if (next !== undefined && sameSeal(seal.record(before.mac, { ...next, id: row.id }), next.mac)) {
    return { kind: "inserted", id: row.id, message: `Record ${row.id} was inserted and those after it renumbered.` };
  }
  const message =
    row.mac.length === 0
      ? `Record ${row.id} has no seal: it was inserted, or written before records were sealed.`
      : `Record ${row.id} was altered, or put there by someone else: its seal does not match.`;
  return { kind: "altered", id: row.id, message };
}

function checkKnown(row: AuditRow, known: AuditHead | undefined): AuditFault | undefined {
  if (known === undefined || row.id !== known.id || hex(row.mac) === known.seal) return undefined;
  const message = `Record ${row.id} does not match the given head: the log up to it was rewritten with the key.`;
  return { kind: "head", id: row.id, message };
}

/** Records at or below the checkpoint would be shown by lists although retention removed them. */
async function checkBelow(tx: Transaction, start: Position): Promise<AuditFault | undefined> {
  const [row] = await tx
    .select({ id: audit.id })
    .from(audit)
    .where(lte(audit.id, start.id))
    .orderBy(asc(audit.id))
    .limit(1);
  if (row === undefined) return undefined;
  const message = `Record ${row.id} was inserted: the log begins after record ${start.id}.`;
  return { kind: "inserted", id: row.id, message };
}

function compareEnd(
  end: Position,
  start: Position,
  head: AuditHead,
  known: AuditHead | undefined,
): AuditFault | undefined {
  const newest = Math.max(head.id, known?.id ?? 0);
  if (end.id < newest) {
    const by =
      end.id < head.id ? "the stored head" : `the given head ${known === undefined ? "" : describeHead(known)}`;
    const message = `Records ${end.id + 1} to ${newest} were removed from the end: ${by} is record ${newest}.`;
    return { kind: "removed", id: end.id + 1, message };
  }
  if (end.id > head.id) {
    const message = `Record ${head.id + 1} was inserted: the stored head is record ${head.id}.`;
    return { kind: "inserted", id: head.id + 1, message };
  }
  if (hex(end.mac) !== head.seal) {
    return { kind: "head", id: head.id, message: `The stored head is not the seal of record ${head.id}.` };
  }
  if (known !== undefined && known.id < start.id) {
    // An attacker with the key can claim that retention removed the record: a head that cannot be compared proves
    // nothing.
    const message = `The given head is of record ${known.id}, and the log begins after record ${start.id}: it shows nothing. Give a newer head; if retention should not have come as far, the log was replaced.`;
    return { kind: "head", id: known.id, message };
  }
  if (known !== undefined && known.id === start.id && known.seal !== hex(start.mac)) {
    return {
      kind: "head",
      id: known.id,
      message: `The checkpoint at record ${known.id} does not match the given head.`,
    };
  }
  return undefined;
}
