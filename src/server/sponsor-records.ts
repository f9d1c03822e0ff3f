/** Sponsors, and what they are asked, as the records that the API and the command line show. */

import type { GivenAnswer, Look, Outcome } from "../domain/decisions/kind.ts";
import type { MovePreview } from "../domain/sponsors/moving.ts";
import type { Sponsor } from "../domain/sponsors/sponsors.ts";
import type { QuestionKind } from "../shared/product/statuses.ts";
import { formatOptionalTimestamp, formatTimestamp } from "../shared/time/timestamp.ts";
import { hostsRecord } from "./records.ts";

export function sponsorRecord({ email, users, lastAnswerAt, undeliverable }: Sponsor) {
  return { email, users, last_answer_at: formatOptionalTimestamp(lastAnswerAt), undeliverable };
}

export function movePreviewRecord({ effects, host, moved }: MovePreview) {
  return { preview: true as const, effects: [...effects], host: [...host], moved };
}

export function questionRecord({ kind, question, items, answered }: Look & { readonly kind: QuestionKind }) {
  return {
    ...{ kind, question },
    items: items.map(({ id, username, evidence }) => ({
      id,
      username,
      evidence: evidence.map((fact) => ({ ...fact })),
    })),
    answered: answered.length === 0 ? null : answered.map(answerRecord),
  };
}

export function decidedRecord({ answered, hosts, effectiveBy }: Outcome) {
  const end = effectiveBy === undefined ? {} : { effective_by: formatOptionalTimestamp(effectiveBy) };
  return { answered: answered.map(answerRecord), ...hostsRecord(hosts), ...end };
}

function answerRecord({ id, answer, reason, until, at }: GivenAnswer) {
  return { id, answer, reason, until: formatOptionalTimestamp(until), at: formatTimestamp(at) };
}
