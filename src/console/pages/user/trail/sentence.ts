/** An audit record as a sentence for the one whom it concerns. What it says was recorded; how, nobody promised: so it is read with care. */

import { changedIn, type Detail, numberOf, readDetail, textOf } from "../../../audit-detail.ts";
import type { TrailFacts, trailTexts } from "../../../texts/user/trail.ts";

/** The fields of a record that are read. */
export interface TrailRecord {
  readonly actor_type: string;
  readonly actor: string;
  readonly action: string;
  readonly detail: string;
  readonly result: string;
}

/** How the parts of the sentence are shown. */
export interface Wording {
  readonly texts: typeof trailTexts;
  /** A typed text within a sentence. */
  readonly isolated: (text: string) => string;
  readonly moment: (time: string) => string;
}

export interface Sentence {
  readonly sentence: string;
  /** Why it failed, as recorded; "" if it did not, or nothing is said. */
  readonly why: string;
}

/** The record for the user called `self`. */
export function sentenceOf(record: TrailRecord, self: string, wording: Wording): Sentence {
  const { texts, isolated } = wording;
  const detail = readDetail(record.detail);
  const { action } = record;
  const known = Object.hasOwn(texts.actions, action) ? texts.actions[action] : undefined;
  const phrase = known?.(factsOf(detail, wording)) ?? {
    did: texts.unknown(isolated(action)),
    tried: texts.unknownTried(isolated(action)),
  };
  const who = whoOf(record, self, wording);
  const hasFailed = record.result === "failed";
  return {
    sentence: hasFailed ? texts.tried(who, phrase) : texts.did(who, phrase),
    why: hasFailed ? textOf(detail.err) : "",
  };
}

function whoOf({ actor_type, actor }: TrailRecord, self: string, { texts, isolated }: Wording): string {
  const { who } = texts;
  switch (actor_type) {
    case "user":
      return actor === self ? who.you : who.user(isolated(actor));
    case "admin":
      return who.admin(isolated(actor));
    case "token":
      return who.token(isolated(actor));
    case "sponsor":
      return who.sponsor(isolated(actor));
    case "cli":
      return who.cli;
    case "system":
      return who.system;
    default:
      return who.anonymous;
  }
}

function factsOf(detail: Detail, { isolated, moment }: Wording): TrailFacts {
  const expiry = textOf(detail.expire_at);
  return {
    key: isolated(textOf(detail.name)),
    fingerprint: isolated(textOf(detail.fingerprint)),
    until: Number.isNaN(Date.parse(expiry)) ? "" : moment(expiry),
    days: numberOf(detail.days),
    channel: textOf(detail.channel),
    changed: changedIn(detail),
    approved: typeof detail.approve === "boolean" ? detail.approve : undefined,
  };
}
