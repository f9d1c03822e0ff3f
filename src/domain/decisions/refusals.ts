/** Why a link or an answer is refused. */

import { UamError } from "../../shared/errors.ts";
import type { Answer } from "./kind.ts";

/** The link is wrong or dead, or somebody else is asked by now. */
export function notAsked(): UamError {
  const sentence = "The link is wrong or too old, or somebody else is asked by now";
  return new UamError("not_found", sentence, { reason: "decision.missing" });
}

/** It was answered before: the first answer stays. */
export function answeredBefore(username: string): UamError {
  const sentence = `It was answered before what becomes of ${username}, and that stays`;
  return new UamError("conflict", sentence, { reason: "decision.answered" });
}

/** Nothing of it is asked any more. */
export function closed(sentence: string): UamError {
  return new UamError("conflict", sentence, { reason: "decision.closed" });
}

/** Throws `invalid` unless each answer is about one of the items, and one of those that there are. */
export function requireFitting(answers: readonly Answer[], ids: ReadonlySet<number>, known: readonly string[]): void {
  for (const { id, answer, until } of answers) {
    if (!ids.has(id)) throw new UamError("invalid", `This link does not ask about ${id}`);
    if (!known.includes(answer)) {
      throw new UamError("invalid", `answer must be ${known.join(" or ")}`);
    }
    if (until !== undefined && answer !== "shorten") throw new UamError("invalid", `${answer} takes no until`);
  }
}
