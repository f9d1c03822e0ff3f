/** An audit record as a sentence for administrators. What it says was recorded; how, nobody promised: so it is read with care. */

import type { AnswerOf } from "../../../api.ts";
import { changedIn, type Detail, numberOf, readDetail, textOf } from "../../../audit-detail.ts";
import type { ActionFacts } from "../../../texts/action-facts.ts";
import type { actionTexts } from "../../../texts/admin/actions.ts";

export type AuditRecord = AnswerOf<"GET /audit">["items"][number];

/** How the parts of the sentence are shown. */
export interface Wording {
  readonly texts: typeof actionTexts;
  /** A typed text within a sentence. */
  readonly isolated: (text: string) => string;
  readonly moment: (time: string) => string;
}

export interface Sentence {
  readonly sentence: string;
  /** Why it failed or was done, as recorded; "" if nothing is said. */
  readonly why: string;
}

/** The record in words; an action that has none is named as it is recorded. */
export function sentenceOf(record: AuditRecord, wording: Wording): Sentence {
  const { texts, isolated } = wording;
  const detail = readDetail(record.detail);
  const { actions } = texts;
  const known = Object.hasOwn(actions, record.action) ? actions[record.action] : undefined;
  const [did, tried] = known?.say(factsOf(record, detail, wording)) ?? texts.unknown(isolated(record.action));
  const who = whoOf(record, wording);
  const sentence = record.result === "failed" ? texts.tried(who, tried) : texts.did(who, did);
  return { sentence, why: textOf(detail.err) || textOf(detail.reason) };
}

function whoOf({ actor_type, actor, detail }: AuditRecord, { texts, isolated }: Wording): string {
  const { who } = texts;
  switch (actor_type) {
    case "admin":
    case "user":
    case "sponsor":
      return who[actor_type](isolated(actor));
    case "cli":
      return who.cli(actor === "" ? "" : isolated(actor));
    case "token": {
      const owner = textOf(readDetail(detail).owner);
      return who.token(isolated(actor), owner === "" ? "" : isolated(owner));
    }
    default:
      return who[actor_type];
  }
}

function factsOf({ resource_id }: AuditRecord, detail: Detail, { isolated, moment }: Wording): ActionFacts {
  const typed = (value: unknown) => (textOf(value) === "" ? "" : isolated(textOf(value)));
  const time = (value: unknown) => (Number.isNaN(Date.parse(textOf(value))) ? "" : moment(textOf(value)));
  return {
    name: typed(detail.username) || typed(detail.administrator),
    key: typed(detail.name),
    fingerprint: typed(detail.fingerprint),
    until: time(detail.expire_at),
    oldUntil: time(detail.old_expire_at),
    days: numberOf(detail.days),
    email: typed(detail.email),
    role: typed(detail.role),
    changed: textOf(detail.changed) === "" ? changedIn(detail) : [textOf(detail.changed)],
    value: textOf(detail.value) || textOf(detail.configured),
    old: textOf(detail.old_value),
    effective: time(detail.effective_at),
    setting: resource_id === "" ? "" : isolated(resource_id),
    approved: typeof detail.approve === "boolean" ? detail.approve : undefined,
    channel: textOf(detail.channel),
    way: textOf(detail.way),
    found: typed(detail.found),
    removed: numberOf(detail.removed),
    to: typed(detail.to),
    status: textOf(detail.status),
    host: typed(detail.host),
  };
}

/** The detail as it is recorded, one field a line. */
export function linesOf(record: AuditRecord): string {
  const detail = readDetail(record.detail);
  const shown = Object.keys(detail).length === 0 && record.detail !== "" ? record.detail : detail;
  return JSON.stringify({ ...record, detail: shown }, null, 2);
}
