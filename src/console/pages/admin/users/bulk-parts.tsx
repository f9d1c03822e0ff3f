/** The effects of a change to several users, and the users for whom it cannot be made. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { userPage } from "../../../../shared/product/pages.ts";
import { userListTexts } from "../../../texts/admin/users.ts";
import { common } from "../../../texts/common.ts";
import { Button } from "../../../ui/button.tsx";
import { moment } from "../../../ui/clock.ts";
import { sentenceOf } from "../../../ui/notice.tsx";
import { Typed } from "../../../ui/typed.tsx";
import type { Change } from "../change.ts";
import { DryRun } from "../effects.tsx";
import type { UserRecord } from "../user/record.ts";
import { type BulkKind, bulkTexts } from "./bulk.ts";
import { doneOf, failedOf, type Outcome } from "./one-by-one.ts";

/** What a change would do to one of them, in sentences. */
export interface Effects {
  readonly effects: readonly string[];
}

interface ExpectedProps {
  readonly kind: Exclude<BulkKind, "undo">;
  /** What is made of each; nothing of it is said where they are only told. */
  readonly change: Change | undefined;
  /** How many keep an end that is later anyhow. */
  readonly later: number;
  readonly previews: readonly Outcome<UserRecord, Effects>[];
  /** Where it is said why. */
  readonly reason: ComponentChildren;
  /** Asked instead, before a reason that was typed is lost. */
  readonly question: ComponentChildren;
  /** Back to what can be chosen; undefined where there is nothing. */
  readonly onBack: (() => void) | undefined;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** The sum, each user's effects behind it, and the one confirmation. */
export function Expected({
  kind,
  change,
  later,
  previews,
  reason,
  question,
  onBack,
  onConfirm,
  onClose,
}: ExpectedProps) {
  const { bulk } = userListTexts;
  const texts = bulkTexts(kind);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  const possible = doneOf(previews);
  const refused = failedOf(previews);
  const already = possible.filter(({ item }) => item.status === "disabled").length;
  return (
    <div class="stack">
      <div ref={place} tabIndex={-1} class="will">
        <h3>{bulk.expected}</h3>
        <p>
          {possible.length === 0
            ? texts.nothing
            : texts.expected(possible.length, change?.kind === "extend" ? by(change) : "")}
        </p>
        {later === 0 ? null : <p>{bulk.later(later)}</p>}
        {kind === "disable" && already > 0 ? <p>{bulk.already(already)}</p> : null}
        <DryRun />
        {possible.length === 0 ? null : (
          <details>
            <summary>{bulk.each(possible.length)}</summary>
            <ul>
              {possible.map(({ item, value }) => (
                <li key={item.id}>
                  <strong>{item.username}</strong>{" "}
                  <span>
                    <Typed text={value.effects.join(" ")} />
                  </span>
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
      <Failed title={bulk.refused(refused.length)} failed={refused} />
      {possible.length === 0 ? null : reason}
      {question ?? (
        <div class="actions">
          {possible.length === 0 ? null : (
            <Button kind={kind === "disable" ? "danger" : "primary"} onClick={onConfirm}>
              {texts.confirm(possible.length)}
            </Button>
          )}
          {onBack === undefined ? null : <Button onClick={onBack}>{bulk.back}</Button>}
          <Button onClick={onClose}>{common.cancel}</Button>
        </div>
      )}
    </div>
  );
}

function by(change: Extract<Change, { readonly kind: "extend" }>): string {
  const { extending } = userListTexts.bulk;
  return "until" in change ? extending.until(moment(change.until)) : extending.by(change.days);
}

interface FailedProps {
  readonly title: string;
  readonly failed: readonly { readonly item: UserRecord; readonly failure: unknown }[];
}

/** For whom it failed, or would, with the sentence that says why. */
export function Failed({ title, failed }: FailedProps) {
  if (failed.length === 0) return null;
  return (
    <section class="notice warn" aria-label={title}>
      <p class="notice-title">{title}</p>
      <ul>
        {failed.map(({ item, failure }) => (
          <li key={item.id}>
            <a href={userPage(item.id)}>{item.username}</a>: {sentenceOf(failure)}
          </li>
        ))}
      </ul>
    </section>
  );
}
