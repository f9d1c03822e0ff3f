/** The question of a review: whether the access of each of a sponsor's people is still right. */

import { LOCAL_NAME } from "../../shared/text/host-name.ts";
import type { QuestionRow } from "../../store/schema-auth.ts";
import type { ReviewItemRow } from "../../store/schema-reviews.ts";
import { date, endDate } from "../mail/letter.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { onward } from "../operation/permission.ts";
import { storeGiven } from "../reviews/answer.ts";
import { carryOutAnswers } from "../reviews/carry-out.ts";
import { closeIfAnswered } from "../reviews/close.ts";
import { type Evidence, readEvidence } from "../reviews/evidence.ts";
import { lockItems } from "../reviews/reviews.ts";
import { answeredBySponsor, findOpenItems, findReview, findSponsorItems } from "../reviews/sponsor-items.ts";
import { markAnswered } from "../sponsors/questions.ts";
import type { Answer, GivenAnswer, Item, Kind } from "./kind.ts";
import { hostsOutcome } from "./outcome.ts";
import { answeredBefore, closed, notAsked, requireFitting } from "./refusals.ts";

const ANSWERS = ["keep", "end", "shorten"] as const;

export const review: Kind = {
  async look(context, question) {
    const { db, clock, policy } = context;
    const found = await findReview(db, reviewOf(question));
    if (found === undefined) throw notAsked();
    const answered = await answeredBySponsor(db, found.id, question.email);
    const open = found.status === "open" ? await findOpenItems(db, found.id, question.email) : [];
    if (answered.length + open.length === 0) {
      if (found.status === "closed") throw overNow();
      throw (await findSponsorItems(db, found.id, question.email)).length === 0 ? notAsked() : answeredByOthers();
    }
    const evidence = await readEvidence(
      db,
      open.map(({ userId }) => userId),
      clock.now(),
    );
    return {
      question: `${question.email}, is the access of these people to ${policy.site.host} still right? Answer by ${date(found.dueAt)}${found.unanswered === "disable" ? ": whoever is not answered for by then loses it" : ""}.`,
      items: [...answered, ...open].map((item) => itemOf(item, evidence.get(item.userId), policy.site.host)),
      answered: answered.map(answerOf),
    };
  },

  async answer(context, question, answers) {
    const reviewId = reviewOf(question);
    const [first] = answers;
    if (first === undefined) throw new Error("no answer");
    const about = answers.length === 1 ? { subjectId: first.id } : {};
    const entry = { action: "review.answer", resourceId: String(reviewId), ...about } as const;
    await audited(context, entry, async (op) => {
      const found = await findReview(op.tx, reviewId, true);
      if (found === undefined) throw notAsked();
      if (found.status === "closed") throw overNow();
      const answered = await answeredBySponsor(op.tx, reviewId, question.email);
      const theirs = await findSponsorItems(op.tx, reviewId, question.email);
      if (answered.length + theirs.length === 0) throw notAsked();
      requireFitting(answers, new Set([...answered, ...theirs].map(({ userId }) => userId)), ANSWERS);
      // Under their locks: of two answers at once, also of an administrator's, one is the first.
      const locked = await lockItems(
        op.tx,
        reviewId,
        answers.map(({ id }) => id),
      );
      const before = locked.find(({ answer }) => answer !== null);
      if (before !== undefined) throw answeredBefore(before.username);
      await storeGiven(op, found, answers.map(asGiven));
      await markAnswered(op.tx, question.id, { at: context.clock.now() });
    });
    await carryOutAnswers(onward(context), { reviewId, userIds: answers.map(({ id }) => id) });
    await closeIfAnswered(context, reviewId);
    const stored = await answeredBySponsor(context.db, reviewId, question.email);
    const given = stored.filter(({ userId }) => answers.some(({ id }) => id === userId)).map(answerOf);
    return { answered: given, ...(await outcomeOf(context, answers)) };
  },
};

/** When what was taken away is true on every host. */
async function outcomeOf(context: Context, answers: readonly Answer[]) {
  const ending = answers.filter(({ answer }) => answer !== "keep").map(({ id }) => id);
  return ending.length === 0 ? {} : await hostsOutcome(context, ending);
}

function reviewOf({ about }: QuestionRow): number {
  return about[0] ?? 0;
}

function asGiven({ id, answer, reason, until }: Answer) {
  return { userId: id, answer: answer as (typeof ANSWERS)[number], reason, until };
}

function overNow() {
  return closed("The review is closed, and you are not asked any more");
}

function answeredByOthers() {
  return closed("The administrators have answered for all of them, and you are not asked any more");
}

function answerOf({ userId, answer, reason, until, answeredAt }: ReviewItemRow): GivenAnswer {
  return { id: userId, answer: answer ?? "", reason, until, at: answeredAt ?? new Date(0) };
}

function itemOf(
  { userId, username, evidence: stored }: ReviewItemRow,
  current: Evidence | undefined,
  ownHost: string,
): Item {
  const evidence = stored === "" ? current : (JSON.parse(stored) as Evidence);
  return { id: userId, username, evidence: evidence === undefined ? [] : factsOf(evidence, ownHost) };
}

/** Sponsors know the service's own host by what users connect to; `local` says nothing to them. */
function factsOf(evidence: Evidence, ownHost: string): readonly { readonly name: string; readonly value: string }[] {
  const facts = {
    ...{ Name: evidence.full_name, "E-mail": evidence.email, Company: evidence.company, Purpose: evidence.purpose },
    "Has access until": endDate(new Date(evidence.expire_at)),
    "Last login here": evidence.last_login_at === null ? "none is known" : when(evidence.last_login_at),
    Hosts: evidence.hosts.map((name) => (name === LOCAL_NAME ? ownHost : name)).join(", "),
    "Groups of hosts": evidence.groups.join(", "),
    "From networks": evidence.source_networks.length === 0 ? "any" : evidence.source_networks.join(", "),
    Hours: evidence.hours ?? "",
    Profile: evidence.profile ?? "",
    Keys: evidence.keys.length === 0 ? "none" : evidence.keys.map(keyWords).join("; "),
    "Logins with a code in 90 days": String(evidence.logins),
    Created: [when(evidence.created_at), by(evidence.created_by)].join(""),
    Extended: evidence.extended_at === null ? "" : [when(evidence.extended_at), by(evidence.extended_by)].join(""),
    "Why it was extended": evidence.extended_because,
    "Differs on hosts": evidence.drift.join("; "),
  };
  return Object.entries(facts)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => ({ name, value }));
}

function keyWords({ name, last_used_at: at }: Evidence["keys"][number]): string {
  return `${name}, ${at === null ? "no use is known" : `last used ${when(at)}`}`;
}

function when(text: string): string {
  return date(new Date(text));
}

function by(name: string): string {
  return name === "" ? "" : `, by ${name}`;
}
