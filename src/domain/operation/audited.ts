/**
 * Audited operations: every state change goes through one of three functions. Change and audit record commit together; no
 * record, no change. `auditedGrant` gives access: it is undone on the host if anything fails. `auditedClosing` takes
 * access away and has no undo: it goes forward. `audited` is for all others.
 */

import { DATABASE_FULL, isDatabaseFull } from "../../shared/database-lost.ts";
import { publicMessage, UamError } from "../../shared/errors.ts";
import type { AuditAction } from "../../shared/product/audit-actions.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { type Transaction, transactionToItsEnd, unreplicatedCommits } from "../../store/client.ts";
import { appendAllPermitted, appendAudit, type RecordRef } from "./append.ts";
import { isStored, waitAgain } from "./committed.ts";
import type { ClosingOperation, Context, Grant, Operation } from "./context.ts";
import type { ActorType, AuditEntry, Recorded, Recording } from "./entry.ts";
import { onward, requirePermission, whilePermitted } from "./permission.ts";

/** An operation with a part that needs no transaction. */
export interface Steps<P, T, Op = Operation> {
  /** Runs first, with no transaction open: for slow work, and for counters that must survive a failure. */
  readonly prepare: () => Promise<P>;
  readonly run: (op: Op, prepared: P) => Promise<T>;
}

type Work<P, T, Op> = ((op: Op) => Promise<T>) | Steps<P, T, Op>;

/**
 * Runs an operation that does not change access on the host. When it returns, change and record are committed (also if the
 * answer to the commit got lost); when it throws, nothing is changed, the failure is recorded with `err`, and the error is
 * rethrown.
 */
export function audited<T, P = undefined>(
  context: Context,
  entry: AuditEntry,
  work: Work<P, T, Operation>,
): Promise<T> {
  const run = () => perform(context, entry, stepsOf(work));
  return OTHER_CLOSINGS.has(entry.action) && context.operation === undefined ? withReserve(context, run) : run();
}

/** Actions that take access away without touching an account of the service's own host. */
const OTHER_CLOSINGS: ReadonlySet<AuditAction> = new Set([
  ...(["token.revoke", "admin.remove", "admin.end_sessions", "user.end_sessions", "webhook.delete"] as const),
  "host.lock",
  ...(["company.end", "review.answer", "review.unanswered"] as const),
]);

/**
 * The same for giving access: when it throws, the host is restored, too. Refused, unrecorded, while the database uses the reserve that is
 * kept for taking access away.
 */
export async function auditedGrant<T>(
  context: Context,
  entry: AuditEntry,
  work: (op: Grant) => Promise<T>,
): Promise<T> {
  if (context.reserve?.isInUse()) throw new UamError("internal", DATABASE_FULL, { reason: "database.full" });
  return await perform(context, entry, stepsOf(work));
}

/**
 * Runs an operation that takes access away. Its changes on the host are never undone: steps that fail are noted
 * (domain/accounts/closings.ts) and finished later, also if the database fails or the process dies in between. An operation
 * that refuses by `op.refuse` is committed, recorded as failed, and throws `internal`.
 */
export async function auditedClosing<T>(
  context: Context,
  entry: AuditEntry,
  work: (op: ClosingOperation) => Promise<T>,
): Promise<T> {
  // A rollback of the operation around it would roll it back, too.
  if (context.operation !== undefined) throw new Error("taking access away cannot be part of another operation");
  return await withReserve(context, () => closeOnce(context, entry, work));
}

const AUTHORITIES: ReadonlySet<ActorType> = new Set(["admin", "token", "cli", "sponsor"]);

/**
 * Retries a closing with room from the reserve while the database's disk is full: as often as there is room to give, because the process
 * that filled the disk may be faster. Only for callers with authority: an account's owner must not be able to use the reserve up, by their
 * requests or effects.
 */
async function withReserve<T>({ actor, reserve }: Context, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseFull(error) || !AUTHORITIES.has(actor.type) || reserve?.release() !== true) throw error;
    }
  }
}

async function closeOnce<T>(
  context: Context,
  entry: AuditEntry,
  work: (op: ClosingOperation) => Promise<T>,
): Promise<T> {
  let pending: string | undefined;
  let refused: string | undefined;
  let result: T;
  try {
    result = await perform(context, entry, {
      onlyForward: true,
      run: async (op) => {
        const { tx, about, record, alsoRecord, onRecorded } = op;
        const closing: ClosingOperation = {
          ...{ tx, about, record, alsoRecord, onRecorded },
          get context() {
            return pending === undefined ? op.context : onward(op.context);
          },
          begun: (sentence) => {
            pending = sentence;
          },
          refuse: (sentence) => {
            refused = sentence;
            op.record({ refused: sentence });
          },
        };
        return await work(closing);
      },
    });
  } catch (error) {
    if (pending === undefined) throw error;
    throw new UamError("internal", pending, { cause: error, reason: "access.owed" });
  }
  if (refused !== undefined) throw new UamError("internal", refused, { reason: "access.owed" });
  return result;
}

/** The data that an outermost operation collects from itself and the operations inside it. */
interface Journal {
  readonly records: Recorded[];
  readonly failures: Recorded[];
  readonly undos: (() => Promise<void>)[];
  readonly afterwards: ((record: number) => Promise<void>)[];
}

type AnySteps<P, T> = {
  readonly prepare?: () => Promise<P>;
  readonly run: (op: Grant, prepared: P) => Promise<T>;
  /** Whether it must not be refused once it has begun. */
  readonly onlyForward?: boolean;
};

const journals = new WeakMap<Operation, Journal>();

function stepsOf<P, T>(work: Work<P, T, Grant>): AnySteps<P, T> {
  return typeof work === "function" ? { run: work } : work;
}

async function perform<P, T>(context: Context, entry: AuditEntry, steps: AnySteps<P, T>): Promise<T> {
  const known: Known = { entry };
  if (context.operation !== undefined) return await runInside(context, context.operation, known, steps);
  const journal: Journal = { records: [], failures: [], undos: [], afterwards: [] };
  let finished: { readonly result: T; readonly record: RecordRef | undefined } | undefined;
  try {
    const prepared = (await (steps.prepare && whilePermitted(context, entry.action, steps.prepare))) as P;
    const before = unreplicatedCommits(context.db);
    const done = await transactionToItsEnd(context.db, async (tx) => {
      await requirePermission(tx, context, entry.action);
      faultPoint("operation: begun, nothing done");
      const result = await runSteps(context, tx, journal, known, (op) => steps.run(op, prepared));
      faultPoint("operation: done, not recorded");
      // Last, because the head's row lock makes every other writer wait until this commits.
      const appender = steps.onlyForward === true ? onward(context) : context;
      const record = await appendAllPermitted(tx, appender, journal.records);
      for (const work of journal.afterwards) await work(record?.id ?? 0);
      faultPoint("operation: recorded, not committed");
      finished = { result, record };
      return result;
    });
    faultPoint("operation: committed, not answered");
    if (finished?.record !== undefined) await waitAgain(context, finished.record, before);
    return done;
  } catch (error) {
    // The answer to a commit can get lost; the record shows whether it succeeded.
    if (finished?.record !== undefined && (await isStored(context, finished.record))) return finished.result;
    faultPoint("operation: failed, host not set back");
    const isUndone = await undoAll(context, journal);
    faultPoint("operation: host set back, failure not recorded");
    await recordFailures(context, journal, { entry: known.entry, error, isUndone });
    faultPoint("operation: failure recorded, not answered");
    throw error;
  }
}

async function runInside<P, T>(context: Context, outer: Operation, known: Known, steps: AnySteps<P, T>): Promise<T> {
  const journal = journals.get(outer);
  if (journal === undefined) throw new Error("an operation ran inside one that is not under way");
  try {
    const prepared = (await steps.prepare?.()) as P;
    return await runSteps(context, outer.tx, journal, known, (op) => steps.run(op, prepared));
  } catch (error) {
    journal.failures.push(failure(known.entry, error));
    throw error;
  }
}

/** The common part of the success and failure records; it grows as the operation learns more. */
interface Known {
  entry: AuditEntry;
}

async function runSteps<T>(
  context: Context,
  tx: Transaction,
  journal: Journal,
  known: Known,
  run: (op: Grant) => Promise<T>,
): Promise<T> {
  let recording: Recording = {};
  const operation: Grant = {
    tx,
    get context() {
      return { ...context, operation };
    },
    about({ detail, ...rest }) {
      known.entry = { ...known.entry, ...rest, detail: { ...known.entry.detail, ...detail } };
    },
    record(more) {
      recording = { ...recording, ...more, detail: { ...recording.detail, ...more.detail } };
    },
    alsoRecord(record) {
      journal.records.push(record);
    },
    onRecorded(work) {
      journal.afterwards.push(work);
    },
    async onRollback(undo) {
      if (context.permit !== undefined) await requirePermission(tx, context, known.entry.action);
      journal.undos.push(undo);
    },
  };
  journals.set(operation, journal);
  const result = await run(operation);
  const { refused, unneeded, actor, ...rest } = recording;
  if (unneeded) return result;
  const detail = { ...known.entry.detail, ...rest.detail, ...(refused === undefined ? {} : { err: refused }) };
  journal.records.push({
    entry: { ...known.entry, ...rest, detail },
    result: refused === undefined ? "success" : "failed",
    ...(actor === undefined ? {} : { actor }),
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
      // Reconcile repairs it within a minute, or at the next start.
      isUndone = false;
      context.log.error("the host could not be restored after a failed change", {
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
      : "it may have changed the host, which is repaired within a minute of the database's return";
    const why = isDatabaseFull(recordError) ? "its disk is full; make room on it" : "it is not available";
    throw new UamError(
      "internal",
      `The operation failed, ${rest}, and the failure could not be recorded in the database: ${why}.`,
      { cause: error, reason: "audit.unrecorded" },
    );
  }
}
