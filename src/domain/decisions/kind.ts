/** What a kind of question does: what is shown of it, and what an answer brings about. One entry for each kind is in kinds.ts. */

import type { QuestionRow } from "../../store/schema-auth.ts";
import type { Confirmation } from "../hosts/confirmation.ts";
import type { Context } from "../operation/context.ts";

/** A fact that helps to decide; the value may come from anybody. */
export interface Evidence {
  readonly name: string;
  readonly value: string;
}

/** One thing that is asked: an application, or a user. */
export interface Item {
  /** The application's id, or the user's. */
  readonly id: number;
  readonly username: string;
  readonly evidence: readonly Evidence[];
}

/** What was answered about an item. */
export interface GivenAnswer {
  readonly id: number;
  readonly answer: string;
  readonly reason: string;
  readonly until: Date | null;
  readonly at: Date;
}

/** A question as it stands. */
export interface Look {
  /** A sentence of ours; it names who is asked. */
  readonly question: string;
  /** Answered ones included; never empty. */
  readonly items: readonly Item[];
  /** Of the items; empty until the first answer. */
  readonly answered: readonly GivenAnswer[];
}

/** An answer, its shape checked: each id comes once. */
export interface Answer {
  readonly id: number;
  readonly answer: string;
  /** Trimmed, within its length. */
  readonly reason: string;
  readonly until?: Date | undefined;
}

export interface Outcome {
  readonly answered: readonly GivenAnswer[];
  /** What hosts have confirmed, where access was taken away. */
  readonly hosts?: Confirmation | undefined;
  /** From then on it is true on every host; absent where nothing was taken away. */
  readonly effectiveBy?: Date | null | undefined;
}

/**
 * A kind of question. Both throw `not_found` if the address is asked about none of it any more, because somebody else is, and `conflict`
 * (`decision.closed`) if it was withdrawn; then neither has changed anything.
 */
export interface Kind {
  look(context: Context, question: QuestionRow): Promise<Look>;
  /**
   * Carries out all answers, or refuses all of them: `invalid` for an id that is not asked or an answer that there is not, `conflict` (`decision.answered`)
   * for an item that was answered. The context's actor is the sponsor; `markAnswered` belongs to the same transaction.
   */
  answer(context: Context, question: QuestionRow, answers: readonly Answer[]): Promise<Outcome>;
}
