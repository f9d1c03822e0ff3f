/** The ways in which access is taken away, each as somebody asks for it, and what they are answered. */

import type { ServiceAnswer } from "../../support/service.ts";
import type { Lane } from "./lane.ts";
import type { Target } from "./preparations.ts";
import type { Random } from "./random.ts";

export interface Subject extends Target {
  readonly username: string;
  readonly userId: number;
  /** The user's own session. */
  readonly session: string;
  readonly keyIds: readonly number[];
  readonly fingerprints: readonly string[];
}

/** `none`: nobody was told that anything began. `open`: the answer says that the host may still let them in. */
export interface Answer {
  readonly kind: "done" | "owed" | "open" | "none";
  readonly text: string;
}

export interface Closing {
  /** Which of the subject's keys it takes away: the first, or all. */
  readonly takes: "first" | "all";
  readonly keys: 1 | 2;
  /** Whether the account itself is closed, or gone, once it is done; `outside`: shut, and its user is active. */
  readonly leaves: "open" | "shut" | "outside" | "nothing";
  /** It takes up to a minute, so only many rounds draw it. */
  readonly isSlow?: boolean;
  /** What has to be before its owner prepares anything. */
  readonly before?: (lane: Lane, subject: Subject) => Promise<void>;
  /** Without `random` nothing that the asking itself decides goes wrong. */
  readonly ask: (lane: Lane, subject: Subject, random?: Random) => Promise<Answer>;
}

const HONEST = /may still (let them in|be able to log in|log in)/;

function answerOf(answer: ServiceAnswer | undefined, { username, fingerprints }: Subject): Answer {
  if (answer === undefined) return { kind: "none", text: "no answer" };
  const text = `${answer.status} ${String(answer.body?.error ?? "")}`.trim();
  if (answer.status < 300) return { kind: "done", text };
  if (HONEST.test(text)) return { kind: "open", text };
  // Whoever begins to close an account names it; before that, the database may have failed.
  const isNamed = [username, ...fingerprints].some((name) => text.includes(name));
  return { kind: isNamed || answer.status < 500 ? "owed" : "none", text };
}

const revoke = async (lane: Lane, subject: Subject): Promise<Answer> =>
  answerOf(await lane.call("DELETE", `/me/keys/${subject.keyIds[0]}`, subject.session), subject);

/** The jobs do it when the service starts. */
const overdue =
  (days: number): Closing["ask"] =>
  async (lane, { userId }) => {
    try {
      const expireAt = `now() - interval '${days} days 1 second'`;
      await lane.sql(`update users set expire_at = ${expireAt} where id = ${userId} and status = 'active'`);
      await lane.kill();
      await lane.start();
      // What cannot be killed is waited for, several times in a row, before anything is stored.
      for (let attempt = 0; attempt < 450; attempt++) {
        const [row] = await lane.sql(`select status from users where id = ${userId}`);
        if (row === undefined) return { kind: "done", text: "recycled" };
        if (row.status === "expired") return { kind: "owed", text: "expired" };
        await Bun.sleep(100);
      }
      return { kind: "none", text: "still to be expired" };
    } catch (error) {
      return { kind: "none", text: String(error).split("\n")[0] ?? "" };
    }
  };

/** What a window has before it ends, at least, in milliseconds: for what its owner prepares. */
const WINDOW = 20_000;
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** Open from this minute on, on this day of the week alone. */
async function giveWindow(lane: Lane, { userId }: Subject): Promise<void> {
  const begin = new Date();
  const end = new Date(Math.ceil((begin.getTime() + WINDOW) / 60_000) * 60_000);
  const [from, to] = [begin, end].map((moment) => moment.toISOString().slice(11, 16));
  const hours = { zone: "UTC", windows: [{ days: [DAYS[begin.getUTCDay()]], from, to }] };
  const answer = await lane.call("PATCH", `/users/${userId}`, lane.admin(), { hours });
  if (answer?.status !== 200) throw new Error(`no hours: ${JSON.stringify(answer)}`);
}

/**
 * The service ends it by itself, at its second or when it starts; what it could not do then, it owes, and tries again by itself: asked once more,
 * that is due at once.
 */
const windowOver: Closing["ask"] = async (lane, { userId }, random) => {
  const isAskedAgain = random === undefined;
  try {
    if (isAskedAgain) await lane.sql(`update closings set due_at = now() where user_id = ${userId}`);
    let answer: Answer = { kind: "none", text: "its window is still to be ended" };
    for (let attempt = 0; attempt < 1200; attempt++) {
      const [row] = await lane.sql(`select hours_due_at > now() + interval '1 hour' as is_over,
        exists (select 1 from closings where user_id = u.id and kind = 'shut') as owes,
        (select detail from audit where subject_id = u.id and action = 'access.window' order by id desc limit 1) as said
        from users u where id = ${userId}`);
      if (row === undefined) throw new Error("the user is gone");
      if (row.is_over === true) {
        if (row.owes !== true) return { kind: "done", text: "its window is over" };
        const text = String(row.said);
        answer = { kind: HONEST.test(text) ? "open" : "owed", text };
        if (answer.kind === "owed" || !isAskedAgain) return answer;
      }
      await Bun.sleep(100);
    }
    return answer;
  } catch (error) {
    return { kind: "none", text: String(error).split("\n")[0] ?? "" };
  }
};

const lock: Closing["ask"] = async (lane, { username }, random) => {
  const { status, output } = await lane.command(["lock", username], random?.onceIn(4) ? random.below(1200) : undefined);
  const text = `exit ${status} ${output.trim()}`;
  if (status === null) return { kind: "none", text };
  if (HONEST.test(output) || /could not be shut/.test(output)) return { kind: "open", text };
  return { kind: status === 0 ? "done" : "owed", text };
};

export const CLOSINGS: Readonly<Record<string, Closing>> = {
  disable: {
    ...{ takes: "all", keys: 2, leaves: "shut" },
    ask: async (lane, subject) =>
      answerOf(await lane.call("POST", `/users/${subject.userId}/disable`, lane.admin()), subject),
  },
  delete: {
    ...{ takes: "all", keys: 2, leaves: "nothing" },
    ask: async (lane, subject) =>
      answerOf(await lane.call("DELETE", `/users/${subject.userId}`, lane.admin()), subject),
  },
  "revoke one of two": { takes: "first", keys: 2, leaves: "open", ask: revoke },
  "revoke the only key": { takes: "all", keys: 1, leaves: "open", ask: revoke },
  expiry: { takes: "all", keys: 2, leaves: "shut", ask: overdue(0) },
  recycling: { takes: "all", keys: 2, leaves: "nothing", ask: overdue(60) },
  "the user's own lock": {
    ...{ takes: "all", keys: 2, leaves: "shut" },
    ask: async (lane, subject) => answerOf(await lane.call("POST", "/me/lock", subject.session), subject),
  },
  "the end of a window": {
    ...{ takes: "all", keys: 2, leaves: "outside", isSlow: true },
    ...{ before: giveWindow, ask: windowOver },
  },
  "uam lock": { takes: "all", keys: 2, leaves: "shut", ask: lock },
};
