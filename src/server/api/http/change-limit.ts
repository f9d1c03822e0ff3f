/**
 * At most so many changes of one kind in a minute for one caller. Each change is a record of the audit log, which is kept for months and sent to
 * every receiver: nobody with a session must be able to fill it.
 */

import { hashToken, hexOf, type Principal } from "../../../domain/auth/sessions/sessions.ts";
import { audited } from "../../../domain/operation/audited.ts";
import type { Context, Services } from "../../../domain/operation/context.ts";
import { UamError } from "../../../shared/errors.ts";
import type { Reason } from "../../../shared/product/reasons.ts";
import { MINUTE } from "../../../shared/time/clock.ts";

/** The session or token that makes the changes. */
export interface Changing {
  readonly principal: Principal;
  readonly token: string;
}

export interface ChangeLimit {
  /**
   * Lets a change of that session begin, and returns what has to be told whether it counts. Throws `limited` where as many as may be were counted
   * in this minute. Of many at once no more begin than could count: the others wait for their turn.
   */
  begin(session: Changing, context: Context): Promise<(counts: boolean) => void>;
  /** Records what was refused beyond in minutes that are over, or in all. */
  record(all?: "all"): Promise<void>;
}

/** The subject of a limit's count, and its message. */
export interface LimitedChanges {
  readonly most: number;
  /** Counts per session (a token counts together with all that it made), or per owner. */
  readonly per: "session" | "principal";
  readonly reason: Reason;
  /** The sentence of the refusal, without when to try again. */
  readonly refusal: string;
  /** The text of the record about refused changes. */
  readonly recorded: string;
}

interface Minute {
  begun: number;
  counted: number;
  /** Refused beyond what may be, and so not recorded yet. */
  beyond: number;
  /** Under way. */
  pending: number;
  readonly waiting: (() => void)[];
  readonly session: Changing;
  context: Context;
}

/** Counts that start empty, and forget when the process ends. */
export function createChangeLimit(
  { clock, log }: Pick<Services, "clock" | "log">,
  { most, per, reason, refusal, recorded }: LimitedChanges,
): ChangeLimit {
  const minutes = new Map<string, Minute>();
  const now = () => clock.now().getTime();
  const isOver = ({ begun }: Minute) => now() >= begun + MINUTE || now() < begun;
  const keyOf = ({ principal: { userType, id, token: used }, token }: Changing) => {
    if (per === "principal") return `${userType} ${id}`;
    // Tokens made with a token count with it: otherwise a token could multiply its own limit by making more.
    return used === undefined ? hexOf(hashToken(token)) : `token ${used.origin}`;
  };

  async function record(all?: "all"): Promise<void> {
    for (const [key, minute] of minutes) {
      if (all === undefined && !isOver(minute)) continue;
      if (minute.pending === 0 && minute.waiting.length === 0) minutes.delete(key);
      const { beyond, context, session } = minute;
      Object.assign(minute, { begun: now(), counted: 0, beyond: 0 });
      if (beyond > 0) await recordBeyond(context, session, { refused: beyond, recorded });
    }
  }
  const recordSoon = () => {
    // The clock may be behind the timer.
    const timer = setTimeout(() => void record().catch((error) => log.error(UNRECORDED, { error })), MINUTE + 1000);
    timer.unref();
  };

  return {
    record,
    async begin(session, context) {
      await record();
      const key = keyOf(session);
      for (;;) {
        const minute = minutes.get(key) ?? fresh(session, context, now());
        minutes.set(key, minute);
        if (minute.counted >= most) {
          if (minute.beyond++ === 0) recordSoon();
          minute.context = context;
          const retryAfter = Math.max(1, Math.ceil((minute.begun + MINUTE - now()) / 1000));
          throw new UamError("limited", `${refusal}; try again in ${retryAfter} seconds`, { retryAfter, reason });
        }
        if (minute.counted + minute.pending < most) return beginIn(minute);
        await new Promise<void>((resolve) => minute.waiting.push(resolve));
      }
    },
  };
}

const UNRECORDED = "changes that were refused could not be recorded in the audit log";

function fresh(session: Changing, context: Context, begun: number): Minute {
  return { begun, counted: 0, beyond: 0, pending: 0, waiting: [], session, context };
}

function beginIn(minute: Minute): (counts: boolean) => void {
  minute.pending++;
  return (counts) => {
    minute.pending--;
    if (counts) minute.counted++;
    for (const wake of minute.waiting.splice(0)) wake();
  };
}

async function recordBeyond(
  context: Context,
  { principal }: Changing,
  { refused, recorded }: { readonly refused: number; readonly recorded: string },
): Promise<void> {
  const { id, username, userType } = principal;
  const subject = userType === "user" ? { subjectId: id } : {};
  await audited(context, { action: "auth.changes_refused", ...subject, detail: { username, refused } }, async (op) => {
    op.record({ refused: recorded });
  });
}
