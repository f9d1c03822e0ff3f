/** uam review answer: answers for users in a review. */

import { object } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { map, multiple } from "@optique/core/modifiers";
import { argument, command } from "@optique/core/primitives";
import { integer } from "@optique/core/valueparser";
import { endOption, jsonFlag, oneOf, reasonOption, userArgument } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { requireUserReferred } from "../../terminal/find-user.ts";
import { printJson } from "../../terminal/output.ts";

const ANSWERS = ["keep", "end", "shorten", "grace"] as const;

export const answer = command(
  "answer",
  map(
    object({
      review: argument(integer({ min: 1, metavar: "REVIEW" }), { description: message`The review's number.` }),
      answer: argument(oneOf(ANSWERS, "ANSWER"), {
        description: message`keep, end (now), shorten (to --until), or grace: the answer may wait until --until.`,
      }),
      names: multiple(userArgument(), { min: 1 }),
      until: endOption("--until"),
      reason: reasonOption(),
      json: jsonFlag(),
    }),
    runAnswer,
  ),
  {
    brief: message`Answer for users in a review.`,
    description: message`Stores the answers, and takes away at once what they end. Several at once need --reason. An answer stays: it cannot be given again.`,
  },
);

interface Input {
  readonly review: number;
  readonly answer: (typeof ANSWERS)[number];
  readonly names: readonly string[];
  readonly until: Date | undefined;
  readonly reason: string | undefined;
  readonly json: boolean;
}

function runAnswer({ review, answer: given, names, until, reason, json }: Input): Command {
  return async (environment) => {
    const { answerItems } = await import("../../../domain/reviews/answer.ts");
    const { getReview } = await import("../../../domain/reviews/reviews.ts");
    const { reviewRecord } = await import("../../../server/review-records.ts");
    const record = await withServices(environment, "change", async (context) => {
      const answers = [];
      for (const name of names) {
        const { id: userId } = await requireUserReferred(context, name);
        answers.push({ userId, answer: given, until, reason });
      }
      await answerItems(context, review, answers);
      return reviewRecord(await getReview(context, review));
    });
    if (json) printJson(environment, record);
    else {
      const left = record.status === "closed" ? "it is closed" : `${record.unanswered} of ${record.total} are left`;
      environment.err(`Answered for ${names.join(", ")} in review ${review}; ${left}.\n`);
    }
    return EXIT.done;
  };
}
