/** /sponsors: who answers for users. /decisions: what they are asked by a link in a mail. */

import * as v from "valibot";
import { QUESTION_KINDS } from "../../shared/product/statuses.ts";
import { MAX_REASON } from "../../shared/text/person.ts";
import { count, described, id, listOf, PageQuery, pageOf, person, text, timestamp } from "../fields.ts";
import { hosts } from "../hosts-confirmation.ts";
import { PreviewQuery, previewed, told } from "../preview.ts";
import { anyoneWithin, operators, type Routes } from "../route.ts";

/** Only looks like a token; it opens nothing. */
const TOKEN = "bm90IGEgdG9rZW4sIGp1c3QgYW4gZXhhbXBsZSBvZjE";
/** Items of one link, and more. */
const MOST_ANSWERS = 1000;

const token = v.pipe(
  text(TOKEN, "What stands behind the `#` in the link"),
  v.maxLength(200, "is too long"),
  v.metadata({ maxLength: 200 }),
);

const address = text("bo@example.org", "One address", { format: "email", maxLength: 254 });

const SponsorRecord = v.pipe(
  v.object({
    email: described("bo@example.org", "In lower case"),
    users: v.pipe(count(12), v.description("For how many users they answer, whatever their status, also by a company")),
    last_answer_at: v.pipe(v.nullable(timestamp), v.description("null where no answer is known")),
    undeliverable: v.pipe(
      v.boolean(),
      v.description("Whether the newest mail to them was refused for good"),
      v.examples([false]),
    ),
  }),
  v.title("Sponsor"),
);

const SponsorMove = v.pipe(v.object({ from: address, to: address }), v.title("SponsorMove"));

const MovePreview = v.pipe(
  v.object({ ...told, moved: v.pipe(count(12), v.description("How many users would be moved")) }),
  v.title("SponsorMovePreview"),
);

const given = v.pipe(
  v.array(
    v.object({
      id,
      answer: described("vouch"),
      reason: described("He runs our build servers"),
      until: v.nullable(timestamp),
      at: timestamp,
    }),
  ),
  v.description("What was answered, by item"),
);

const Question = v.pipe(
  v.object({
    kind: v.picklist(QUESTION_KINDS),
    question: described(
      "bo@example.org, do you answer for this person, who applies for access to uam.example.org?",
      "A sentence that names who is asked",
    ),
    items: v.array(
      v.object({
        id: v.pipe(id, v.description("Of the application (`vouch`, `access`), or of the user")),
        username: person.username,
        evidence: v.pipe(
          v.array(v.object({ name: described("Purpose"), value: described("Maintenance of the build servers") })),
          v.description("Facts that help to decide. Of an application nothing has been checked"),
        ),
      }),
    ),
    answered: v.pipe(v.nullable(given), v.description("null until the first answer")),
  }),
  v.title("Question"),
);

const Decision = v.pipe(
  v.object({
    token,
    answers: listOf(
      v.object({
        id,
        answer: text(
          "vouch",
          "Of `vouch`: `vouch` or `decline`; of `end`: `end`; of `review`: `keep`, `end`, or `shorten` with `until`",
          { maxLength: 20 },
        ),
        reason: v.optional(text("He runs our build servers", "For administrators", { maxLength: MAX_REASON })),
        until: v.optional(text("2027-06-30T22:00:00Z", "An RFC 3339 timestamp, for answers that take one")),
      }),
      MOST_ANSWERS,
    ),
  }),
  v.title("Decision"),
);

const Decided = v.pipe(
  v.object({
    answered: given,
    hosts,
    effective_by: v.optional(
      v.pipe(
        v.nullable(timestamp),
        v.description(
          "Where access was taken away: from then on that is true on every host; null where a host without a lease has not confirmed",
        ),
      ),
    ),
  }),
  v.title("Decided"),
);

export const sponsors = {
  "POST /decisions/look": {
    operationId: "lookAtDecision",
    summary: "See what the link in a mail asks",
    description: "Changes nothing: a link can be opened by anything that reads the mail.",
    who: anyoneWithin("decision"),
    body: v.pipe(v.object({ token }), v.title("DecisionToken")),
    answer: Question,
    refusals: {
      404: "The link is wrong or older than 14 days, or somebody else is asked by now",
      409: "It is not asked any more",
    },
    reasons: ["decision.missing", "decision.closed"],
  },
  "POST /decisions": {
    operationId: "decide",
    summary: "Answer what the link in a mail asks",
    description:
      "All of the answers, or none of them. The items of a link can be answered one by one; each once. Ending access is a closing like any other.",
    who: anyoneWithin("decision"),
    body: Decision,
    answer: Decided,
    refusals: {
      404: "The link is wrong or older than 14 days, or somebody else is asked by now",
      409: "It was answered already, or is not asked any more",
      500: "Something could not be done on the host. The message says what holds, and the service keeps trying to do the rest",
    },
    reasons: ["decision.missing", "decision.answered", "decision.closed", "access.owed"],
  },
  "GET /sponsors": {
    operationId: "listSponsors",
    summary: "List who answers for users",
    description: "By address. Sponsors of companies are in it, too.",
    who: operators,
    query: PageQuery,
    answer: pageOf(SponsorRecord),
  },
  "POST /sponsors/move": {
    operationId: "moveSponsor",
    summary: "Give all people of one sponsor to another",
    description:
      "Users, companies and pending applications. The new sponsor is told, and links in earlier mails to the old one are dead.",
    who: operators,
    records: "sponsor.move",
    query: PreviewQuery,
    body: SponsorMove,
    answer: previewed(MovePreview, v.object({ moved: v.pipe(count(12), v.description("How many users")) })),
    reasons: ["sponsor.invalid"],
  },
} as const satisfies Routes;
