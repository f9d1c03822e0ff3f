/**
 * How often the changes of one session or token are refused. Each refusal is a record of the audit log, which is kept for months and sent to every
 * receiver: whoever has a session must not be able to fill it.
 */

import { hashToken, type Principal } from "../../domain/auth/sessions.ts";
import { audited } from "../../domain/operation/audited.ts";
import type { Context, Services } from "../../domain/operation/context.ts";
import { MINUTE } from "../../shared/clock.ts";
import { UamError } from "../../shared/errors.ts";

/** Refusals in a minute; what is refused beyond is one record for the minute. */
export const MOST_REFUSED = 60;

/** Whose changes they are: a session, or a token. */
interface Changing {
  readonly principal: Principal;
  readonly token: string;
}

export interface RefusedChanges {
  /**
   * Lets a change of that session begin, and returns what has to be told how it ended. Throws `limited` where as many as may be were refused in
   * this minute. Of many at once no more begin than could be refused: the others wait for their turn.
   */
  begin(session: Changing, context: Context): Promise<(isRefused: boolean) => void>;
  /** Records what was refused beyond in minutes that are over, or in all. */
  record(all?: "all"): Promise<void>;
}

interface Minute {
  begun: number;
  refused: number;
  /** Beyond what may be, and so not recorded yet. */
  beyond: number;
  /** Under way. */
  pending: number;
  readonly waiting: (() => void)[];
  readonly session: Changing;
  context: Context;
}

/** Counts that start empty, and forget when the process ends. */
export function createRefusedChanges(
  { clock, log }: Pick<Services, "clock" | "log">,
  most = MOST_REFUSED,
): RefusedChanges {
  const minutes = new Map<string, Minute>();
  const now = () => clock.now().getTime();
  const isOver = ({ begun }: Minute) => now() >= begun + MINUTE || now() < begun;

  async function record(all?: "all"): Promise<void> {
    for (const [key, minute] of minutes) {
      if (all === undefined && !isOver(minute)) continue;
      if (minute.pending === 0 && minute.waiting.length === 0) minutes.delete(key);
      const { beyond, context, session } = minute;
      Object.assign(minute, { begun: now(), refused: 0, beyond: 0 });
      if (beyond > 0) await recordBeyond(context, session, beyond);
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
      const key = Buffer.from(hashToken(session.token)).toString("hex");
      for (;;) {
        const minute = minutes.get(key) ?? fresh(session, context, now());
        minutes.set(key, minute);
        if (minute.refused >= most) {
          if (minute.beyond++ === 0) recordSoon();
          minute.context = context;
          throw tooMany(Math.max(1, Math.ceil((minute.begun + MINUTE - now()) / 1000)));
        }
        if (minute.refused + minute.pending < most) return beginIn(minute);
        await new Promise<void>((resolve) => minute.waiting.push(resolve));
      }
    },
  };
}

const UNRECORDED = "refused changes could not be recorded in the audit log";

function fresh(session: Changing, context: Context, begun: number): Minute {
  return { begun, refused: 0, beyond: 0, pending: 0, waiting: [], session, context };
}

function beginIn(minute: Minute): (isRefused: boolean) => void {
  minute.pending++;
  return (isRefused) => {
    minute.pending--;
    if (isRefused) minute.refused++;
    for (const wake of minute.waiting.splice(0)) wake();
  };
}

function tooMany(retryAfter: number): UamError {
  const sentence = `Too many refused changes by this session; try again in ${retryAfter} seconds`;
  return new UamError("limited", sentence, { retryAfter, reason: "rate.refused" });
}

async function recordBeyond(context: Context, { principal }: Changing, refused: number): Promise<void> {
  const { id, username, userType } = principal;
  const subject = userType === "user" ? { subjectId: id } : {};
  await audited(context, { action: "auth.changes_refused", ...subject, detail: { username, refused } }, async (op) => {
    op.record({ refused: "Too many changes were refused in a minute" });
  });
}
