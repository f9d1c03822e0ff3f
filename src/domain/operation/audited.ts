/**
 * Audited operations: every state change goes through `audited`. The change and its audit record commit together; a
 * failure rolls back, undoes what was done on the host, and is recorded on its own. No record, no change.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { publicMessage, UamError } from "../../shared/errors.ts";
import type { Transaction } from "../../store/client.ts";
import { appendAudit, hasRecord, type RecordRef } from "./append.ts";
import type { AuditAction } from "./audit-actions.ts";
import type { Context } from "./context.ts";

export type AuditDetail = Readonly<Record<string, string | number | boolean | null>>;

/** What is known of an operation before it begins; it is in the record of its success and of its failure. */
export interface AuditEntry {
  readonly action: AuditAction;
  /** Decimal id, or the key of a setting. Empty when a create failed. */
  readonly resourceId?: string;
  readonly detail?: AuditDetail;
  /** The external user who acts or whom it is about; makes the record part of that user's own trail. */
  readonly subjectId?: number;
}

/** What an operation found out; only the record of its success has it. */
export interface Learned {
  readonly resourceId?: string;
  readonly detail?: AuditDetail;
  readonly subjectId?: number;
  /** The sentence of a failure that is to be committed all the same: the record says `failed`, with it as `err`. */
  readonly refused?: string;
  /** Somebody else did it first: nothing was changed, and nothing is recorded. */
  readonly unneeded?: true;
}

/** An operation under way. */
export interface Operation {
  readonly tx: Transaction;
  /** The caller's context inside this operation: an operation called with it shares this one's fate. */
  readonly context: Context;
  learn(learned: Learned): void;
  /** Registers what sets the host back; run after a rollback, last registered first, on connections of its own. */
  onRollback(undo: () => Promise<void>): void;
}

/** One line of the log to be. */
export interface Recorded {
  readonly entry: AuditEntry;
  readonly result: "success" | "failed";
}

/** What an outermost operation collects from itself and the operations inside it. */
interface Journal {
  readonly successes: Recorded[];
  readonly failures: Recorded[];
  readonly undos: (() => Promise<void>)[];
}

const journals = new WeakMap<Operation, Journal>();

/** What an operation does, where some of it needs no transaction. */
export interface Steps<P, T> {
  /** Runs first, with no transaction open: for slow work, and for counters that must survive a failure. */
  readonly prepare: () => Promise<P>;
  readonly run: (op: Operation, prepared: P) => Promise<T>;
}

/**
 * Runs one audited operation. When it returns, change and record are committed (also if the answer to the commit got lost); when it throws, neither the database nor
 * the host is changed, the failure is recorded with `err`, and what was thrown is thrown on.
 */
export async function audited<T, P = undefined>(
  context: Context,
  entry: AuditEntry,
  work: ((op: Operation) => Promise<T>) | Steps<P, T>,
): Promise<T> {
  const steps = typeof work === "function" ? { prepare: async () => undefined as P, run: work } : work;
  if (context.operation !== undefined) return await runInside(context, context.operation, entry, steps);
  const journal: Journal = { successes: [], failures: [], undos: [] };
  let finished: { readonly result: T; readonly record: RecordRef | undefined } | undefined;
  try {
    const prepared = await steps.prepare();
    return await context.db.transaction(async (tx) => {
      const result = await perform(context, tx, journal, entry, (op) => steps.run(op, prepared));
      let record: RecordRef | undefined;
      // Last, because the head's row lock makes every other writer wait until this commits.
      for (const success of journal.successes) record = await appendAudit(tx, context, success);
      finished = { result, record };
      return result;
    });
  } catch (error) {
    // The answer to a commit can get lost; its record tells what became of it.
    if (finished?.record !== undefined && (await isStored(context, finished.record))) return finished.result;
    const isUndone = await undoAll(context, journal);
    await recordFailures(context, journal, { entry, error, isUndone });
    throw error;
  }
}

/** Tries for a lost answer: about the time that a database server takes to be there again. */
const LOOKS = 10;
const BETWEEN_LOOKS = 500;

/** Whether the record is in the log; false, too, where the database stays away, which is said as a failure to record. */
async function isStored(context: Context, record: RecordRef): Promise<boolean> {
  for (let look = 1; look <= LOOKS; look++) {
    try {
      return await hasRecord(context.db, record);
    } catch (error) {
      context.log.warn("the database does not say what became of a commit", { error, requestId: context.requestId });
      if (look < LOOKS) await sleep(BETWEEN_LOOKS);
    }
  }
  return false;
}

async function runInside<T, P>(context: Context, outer: Operation, entry: AuditEntry, steps: Steps<P, T>): Promise<T> {
  const journal = journals.get(outer);
  if (journal === undefined) throw new Error("an operation ran inside one that is not under way");
  try {
    const prepared = await steps.prepare();
    return await perform(context, outer.tx, journal, entry, (op) => steps.run(op, prepared));
  } catch (error) {
    journal.failures.push(failure(entry, error));
    throw error;
  }
}

async function perform<T>(
  context: Context,
  tx: Transaction,
  journal: Journal,
  entry: AuditEntry,
  run: (op: Operation) => Promise<T>,
): Promise<T> {
  let learned: Learned = {};
  const operation: Operation = {
    tx,
    get context() {
      return { ...context, operation };
    },
    learn(more) {
      learned = { ...learned, ...more, detail: { ...learned.detail, ...more.detail } };
    },
    onRollback(undo) {
      journal.undos.push(undo);
    },
  };
  journals.set(operation, journal);
  const result = await run(operation);
  const { refused, unneeded, ...known } = learned;
  if (unneeded) return result;
  const detail = { ...entry.detail, ...known.detail, ...(refused === undefined ? {} : { err: refused }) };
  journal.successes.push({
    entry: { ...entry, ...known, detail },
    result: refused === undefined ? "success" : "failed",
  });
  return result;
}

function failure(entry: AuditEntry, error: unknown): Recorded {
  return { entry: { ...entry, detail: { ...entry.detail, err: publicMessage(error) } }, result: "failed" };
}

/** Whether the host is as it was. */
async function undoAll(context: Context, journal: Journal): Promise<boolean> {
  let isUndone = true;
  for (const undo of journal.undos.reverse()) {
    try {
      await undo();
    } catch (error) {
      // Reconcile sets it right within a minute, or at the next start.
      isUndone = false;
      context.log.error("the host could not be set back after a failed change", {
        error,
        requestId: context.requestId,
      });
    }
  }
  return isUndone;
}

async function recordFailures(
  context: Context,
  journal: Journal,
  { entry, error, isUndone }: { readonly entry: AuditEntry; readonly error: unknown; readonly isUndone: boolean },
): Promise<void> {
  try {
    await context.db.transaction(async (tx) => {
      for (const record of [...journal.failures, failure(entry, error)]) await appendAudit(tx, context, record);
    });
  } catch (recordError) {
    context.log.error("a failed operation could not be recorded in the audit log", {
      error: recordError,
      action: entry.action,
      requestId: context.requestId,
    });
    const rest = isUndone
      ? "nothing was changed"
      : "it may have changed the host, which is set right within a minute of the database's return";
    throw new UamError(
      "internal",
      `The operation failed, ${rest}, and the failure could not be recorded: the database is not available.`,
      { cause: error },
    );
  }
}
