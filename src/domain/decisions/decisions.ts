/** What somebody without an account is asked by a link in a mail: what is shown of it, and their answers. Opening a link decides nothing. */

import { UamError } from "../../shared/errors.ts";
import type { QuestionKind } from "../../shared/product/statuses.ts";
import { MAX_REASON } from "../../shared/text/person.ts";
import { parseText } from "../../shared/text/text.ts";
import type { QuestionRow } from "../../store/schema-auth.ts";
import type { Context } from "../operation/context.ts";
import { findQuestion } from "../sponsors/questions.ts";
import type { Answer, Kind, Look, Outcome } from "./kind.ts";
import { KINDS } from "./kinds.ts";
import { notAsked } from "./refusals.ts";

/** An answer as it was sent. */
export interface SentAnswer {
  readonly id: number;
  readonly answer: string;
  readonly reason?: string | undefined;
  readonly until?: Date | undefined;
}

/** What the link asks; changes nothing. Throws `not_found` for an unknown or dead link, and `conflict` for a question that was withdrawn. */
export async function lookAt(context: Context, token: string): Promise<Look & { readonly kind: QuestionKind }> {
  const { question, kind } = await requireQuestion(context, token);
  return { kind: question.kind, ...(await kind.look(context, question)) };
}

/**
 * Carries out the answers, all or none, in the name of whoever was asked. Throws as `lookAt`, `invalid` for answers that are none, and `conflict`
 * for an item that was answered. A closing that is not completely done on the host throws `internal`; it is answered all the same.
 */
export async function decide(context: Context, token: string, sent: readonly SentAnswer[]): Promise<Outcome> {
  const { question, kind } = await requireQuestion(context, token);
  const answers = sent.map(parse);
  if (answers.length === 0) throw new UamError("invalid", "answers is empty");
  const twice = answers.find(({ id }, at) => answers.findIndex((other) => other.id === id) !== at);
  if (twice !== undefined) throw new UamError("invalid", `There are two answers about ${twice.id}`);
  const actor = { type: "sponsor", name: question.email, ip: context.actor.ip } as const;
  return await kind.answer({ ...context, actor }, question, answers);
}

async function requireQuestion(
  context: Context,
  token: string,
): Promise<{ readonly question: QuestionRow; readonly kind: Kind }> {
  const question = context.policy.sponsor.mode === "off" ? undefined : await findQuestion(context, token);
  const kind = question === undefined ? undefined : KINDS[question.kind];
  if (question === undefined || kind === undefined) throw notAsked();
  return { question, kind };
}

function parse({ id, answer, reason = "", until }: SentAnswer): Answer {
  return { id, answer, reason: parseText("reason", reason, MAX_REASON), until };
}
