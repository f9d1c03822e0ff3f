/** The users of a review, each with the evidence and the answer; one or several can be answered for. */

import { useState } from "preact/hooks";
import { userPage } from "../../../shared/product/pages.ts";
import { reviewTexts as texts } from "../../texts/admin/reviews.ts";
import { Button } from "../../ui/button.tsx";
import { isolated } from "../../ui/isolated.ts";
import { Time } from "../../ui/time.tsx";
import { Typed } from "../../ui/typed.tsx";
import { EvidenceFacts } from "./evidence.tsx";
import { ANSWERS, type Answering, type Item } from "./record.ts";

interface ItemsProps {
  readonly items: readonly Item[];
  /** Undefined where nobody can answer. */
  readonly onAnswer: ((answering: Answering) => void) | undefined;
}

export function Items({ items, onAnswer }: ItemsProps) {
  const [chosen, setChosen] = useState<readonly number[]>([]);
  const open = items.filter(({ answer }) => answer === null);
  // Who was answered for meanwhile is selected no more.
  const selected = open.filter(({ user_id: id }) => chosen.includes(id));
  const isAll = selected.length === open.length;
  return (
    <div class="stack">
      {onAnswer === undefined || open.length < 2 ? null : (
        <fieldset class="bulk actions" aria-label={texts.several}>
          <label class="check">
            <input
              type="checkbox"
              checked={isAll}
              onInput={() => setChosen(isAll ? [] : open.map(({ user_id: id }) => id))}
            />
            {texts.selectAll(open.length)}
          </label>
          <span role="status">{texts.selected(selected.length)}</span>
          {selected.length === 0 ? null : <Answers items={selected} onAnswer={onAnswer} />}
        </fieldset>
      )}
      {items.map((item) => (
        <Card
          key={item.user_id}
          item={item}
          onAnswer={item.answer === null ? onAnswer : undefined}
          isChosen={chosen.includes(item.user_id)}
          onChoose={(isOn) => setChosen(chosen.filter((id) => id !== item.user_id).concat(isOn ? item.user_id : []))}
        />
      ))}
    </div>
  );
}

function Answers({ items, onAnswer }: Required<Pick<ItemsProps, "items">> & { onAnswer: (one: Answering) => void }) {
  const [only] = items.length === 1 ? items : [];
  return (
    <>
      {ANSWERS.map((answer) => (
        <Button
          key={answer}
          kind={answer === "end" ? "danger" : answer === "keep" ? "primary" : "plain"}
          aria-label={`${texts.answers[answer]} ${only?.username ?? texts.selected(items.length)}`}
          onClick={() => onAnswer({ answer, items })}
        >
          {texts.answers[answer]}
        </Button>
      ))}
    </>
  );
}

interface CardProps {
  readonly item: Item;
  readonly onAnswer: ItemsProps["onAnswer"];
  readonly isChosen: boolean;
  readonly onChoose: (isOn: boolean) => void;
}

function Card({ item, onAnswer, isChosen, onChoose }: CardProps) {
  const { user_id: id, username, evidence } = item;
  return (
    <section class="card" aria-labelledby={`user-${id}`}>
      <header class="actions">
        {onAnswer === undefined ? null : (
          <label class="check">
            <input
              type="checkbox"
              aria-label={texts.select(username)}
              checked={isChosen}
              onInput={({ currentTarget: { checked } }) => onChoose(checked)}
            />
          </label>
        )}
        <h2 id={`user-${id}`}>
          <a href={userPage(id)}>{isolated(username)}</a>
        </h2>
      </header>
      <Said item={item} />
      {evidence === null ? null : <EvidenceFacts evidence={evidence} />}
      {onAnswer === undefined ? null : (
        <div class="actions">
          <Answers items={[item]} onAnswer={onAnswer} />
        </div>
      )}
    </section>
  );
}

/** What was answered, by whom, when and why; or who is asked. */
function Said({ item }: { readonly item: Item }) {
  const { answer, asked = "", grace_until: grace, until, reason, answered_at: at, answered_by: by } = item;
  if (answer === null) {
    return (
      <p class="quiet">
        {asked === "" ? texts.waits : texts.asked(isolated(asked))}
        {grace === null ? null : (
          <>
            {" "}
            {texts.grace} <Time at={grace} both />.
          </>
        )}
      </p>
    );
  }
  return (
    <p>
      <strong>{texts.said[answer]}</strong> {until === null ? null : <Time at={until} isEnd />}{" "}
      {at === null ? null : (
        <span class="quiet">
          · <Time at={at} />, {texts.facts.by} <bdi>{by}</bdi>
        </span>
      )}{" "}
      {reason === "" ? null : <Typed text={reason} />}
    </p>
  );
}
