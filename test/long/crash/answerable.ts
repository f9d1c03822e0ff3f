/** Deeds of reviews, companies, sponsors and hours: what they take from a user, and what a service that starts goes on with. */

import { createCompany } from "../../../src/domain/companies/companies.ts";
import type { Context } from "../../../src/domain/operation/context.ts";
import { startReview } from "../../../src/domain/reviews/start.ts";
import { askQuestion } from "../../../src/domain/sponsors/questions.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { DAY } from "../../../src/shared/time/clock.ts";
import { type Deed, newUser, request, type Subject } from "./deeds.ts";
import type { World } from "./world.ts";

/** A subject, and the review or the company that the deed goes by, or a link's token. */
interface Placed extends Subject {
  readonly by: number | string;
}

const isDisabled: Deed["isDone"] = (state) => state?.status === "disabled";
const by = (subject: Subject) => (subject as Placed).by;
const nothing: Deed["act"] = async () => undefined;

async function inCompany(context: Context, world: World): Promise<Placed> {
  const subject = await newUser(context, world, 1);
  const { row } = await createCompany(context, { name: subject.name });
  await updateUser(context, subject.id, { companyId: row.id });
  return { ...subject, by: row.id };
}

/** By a manager of the same company, who has the session. */
async function withManager(context: Context, world: World): Promise<Placed> {
  const subject = await inCompany(context, world);
  const manager = await newUser(context, world, 0);
  await updateUser(context, manager.id, { companyId: Number(subject.by), manager: true });
  return { ...subject, session: manager.session };
}

async function sponsored(context: Context, world: World) {
  const subject = await newUser(context, world, 1);
  const sponsor = `${subject.name}@example.net`;
  await updateUser(context, subject.id, { sponsorEmail: sponsor });
  return { subject, sponsor };
}

async function inReview(context: Context, world: World): Promise<Placed> {
  const { subject, sponsor } = await sponsored(context, world);
  const { row } = await startReview(context, { scope: { sponsor }, dueDays: 3, unanswered: "disable" });
  return { ...subject, by: row.id };
}

async function withLink(context: Context, world: World): Promise<Placed> {
  const { subject, sponsor } = await sponsored(context, world);
  const question = { kind: "end", email: sponsor, about: [subject.id] } as const;
  const { token } = await context.db.transaction((tx) => askQuestion({ tx, context }, question));
  return { ...subject, by: token };
}

const soon = () => new Date(Date.now() + DAY).toISOString();
/** Of no moment from now on. */
const NEVER = { zone: "UTC", windows: [{ days: ["mon"], from: "00:00", to: "00:01" }] };

export const ANSWERABLE: Readonly<Record<string, Deed>> = {
  "end in a review": {
    ...{ action: "user.disable", kind: "takes", prepare: inReview, isDone: isDisabled },
    act: request((subject) => ["POST", `/reviews/${by(subject)}/items/${subject.id}`, { answer: "end" }]),
  },
  "shorten in a review": {
    ...{ action: "user.shorten", kind: "takes", prepare: inReview },
    act: request((subject) => [
      "POST",
      `/reviews/${by(subject)}/items/${subject.id}`,
      { answer: "shorten", until: soon() },
    ]),
    isDone: (state, _subject, before) => state !== undefined && state.expireAt < (before?.expireAt ?? ""),
  },
  "end by a link": {
    ...{ action: "sponsor.end", kind: "takes", prepare: withLink, isDone: isDisabled },
    act: request((subject) => [
      "POST",
      "/decisions",
      { token: by(subject), answers: [{ id: subject.id, answer: "end" }] },
    ]),
  },
  "end by a manager": {
    ...{ action: "user.disable", kind: "takes", prepare: withManager, isDone: isDisabled },
    act: request(({ id }) => ["POST", `/me/company/users/${id}/end`], "user"),
  },
  "end of a company": {
    ...{ action: "user.disable", kind: "takes", prepare: inCompany, isDone: isDisabled },
    act: request((subject) => ["POST", `/companies/${by(subject)}/end`]),
  },
  "an earlier contract": {
    ...{ action: "user.shorten", kind: "takes", prepare: inCompany },
    act: request((subject) => ["PATCH", `/companies/${by(subject)}`, { contract_end: soon() }]),
    isDone: (state, _subject, before) => state !== undefined && state.expireAt < (before?.expireAt ?? ""),
  },
  hours: {
    ...{ action: "user.update", kind: "neither", prepare: (context, world) => newUser(context, world, 1) },
    act: request(({ id }) => ["PATCH", `/users/${id}`, { hours: NEVER }]),
    isDone: (state) => state?.hours === true,
  },
};

/** What a service that starts finds begun, or overdue. */
export const ANSWERABLE_STARTS: Readonly<Record<string, Deed>> = {
  "a review whose day has come": {
    ...{ action: "user.disable", kind: "takes", atStart: "is finished", act: nothing, isDone: isDisabled },
    prepare: async (context, world) => {
      const subject = await inReview(context, world);
      await world.sql(`update reviews set due_at = now() - interval '1 second' where id = ${subject.by}`);
      return subject;
    },
  },
  "an answer that was not carried out": {
    ...{ action: "user.disable", kind: "takes", atStart: "is finished", act: nothing, isDone: isDisabled },
    prepare: async (context, world) => {
      const subject = await inReview(context, world);
      const answered = "answer = 'end', answered_by_type = 'admin', answered_by = 'crash-admin', answered_at = now()";
      await world.sql(`update review_items set pending = true, ${answered} where review_id = ${subject.by}`);
      return subject;
    },
  },
  "a company that is being ended": {
    ...{ action: "user.disable", kind: "takes", atStart: "is finished", act: nothing, isDone: isDisabled },
    prepare: async (context, world) => {
      const subject = await inCompany(context, world);
      const asked = "asked_by_type = 'admin', asked_by = 'crash-admin'";
      await world.sql(`update companies set status = 'ending', ${asked} where id = ${subject.by}`);
      return subject;
    },
  },
  "a window that is over": {
    ...{ action: "access.window", kind: "takes", atStart: "is not to be seen", act: nothing, isDone: () => false },
    prepare: async (context, world) => {
      const subject = await newUser(context, world, 1);
      await world.sql(`update users set hours = '${JSON.stringify(NEVER)}', hours_due_at = now() - interval '1 second'
        where id = ${subject.id}`);
      return subject;
    },
  },
};
