/** What a file of users comes to: who would be created, and each fault by its line. */

import { useEffect, useRef } from "preact/hooks";
import type { AnswerOf } from "../../../api.ts";
import { importTexts as texts } from "../../../texts/admin/import.ts";
import { Button } from "../../../ui/button.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { Address } from "../cut.tsx";

type Answer = AnswerOf<"POST /users/import">;
export type ImportPreview = Extract<Answer, { readonly preview: true }>;
export type Imported = Exclude<Answer, { readonly preview: true }>;

interface CheckedFileProps {
  readonly preview: ImportPreview;
  readonly onCreate: () => void;
}

/** It takes the focus: it is the answer to what was pressed. */
export function CheckedFile({ preview, onCreate }: CheckedFileProps) {
  const { users, good, items, ignored, faults } = preview;
  const place = useRef<HTMLElement>(null);
  useEffect(() => place.current?.focus(), [preview]);
  return (
    <section class="card" ref={place} tabIndex={-1} aria-label={texts.result}>
      <h2>{texts.result}</h2>
      <ul>
        <li>{texts.found(users)}</li>
        <li>{texts.good(good)}</li>
        {faults.existing === 0 ? null : <li>{texts.existing(faults.existing)}</li>}
        {faults.faulty === 0 ? null : <li>{texts.faulty(faults.faulty)}</li>}
      </ul>
      {ignored.length === 0 ? null : (
        <p class="quiet">
          {texts.ignored} <Typed text={ignored.join(", ")} />
        </p>
      )}
      <Faults title={texts.faults} faults={faults} />
      {good === 0 ? null : (
        <>
          <details>
            <summary>{texts.who(good)}</summary>
            <div class="table">
              <Table
                caption={texts.who(good)}
                columns={GOOD}
                items={items.map((item) => ({ ...item, id: item.line }))}
              />
            </div>
            <More total={good} shown={items.length} />
          </details>
          <div class="actions">
            <Button kind="primary" onClick={onCreate}>
              {faults.total === 0 ? texts.all(good) : texts.onlyGood(good)}
            </Button>
            {faults.total === 0 ? null : <span class="quiet">{texts.orCorrect}</span>}
          </div>
        </>
      )}
    </section>
  );
}

type Fault = Answer["faults"]["items"][number] & { readonly id: number };
type Good = ImportPreview["items"][number] & { readonly id: number };

const FAULTS: readonly Column<Fault>[] = [
  { name: texts.line, cell: ({ line }) => line },
  { name: texts.column, isHeader: true, cell: ({ column }) => (column === "" ? texts.wholeLine : column) },
  { name: texts.fault, isEvident: true, cell: ({ error }) => <Typed text={error} /> },
];

const GOOD: readonly Column<Good>[] = [
  { name: texts.line, cell: ({ line }) => line },
  { name: texts.username, isHeader: true, cell: ({ username }) => username },
  { name: texts.email, isEvident: true, cell: ({ email }) => <Address text={email} /> },
  { name: texts.ends, cell: ({ expire_at: at }) => <Time at={at} isEnd /> },
];

interface FaultsProps {
  readonly title: string;
  readonly faults: Answer["faults"];
}

/** The first of them, and how many more there are; nothing where there is none. */
export function Faults({ title, faults: { items, total } }: FaultsProps) {
  if (total === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <div class="table">
        <Table caption={title} columns={FAULTS} items={items.map((item, id) => ({ ...item, id }))} />
      </div>
      <More total={total} shown={items.length} />
    </>
  );
}

function More({ total, shown }: { readonly total: number; readonly shown: number }) {
  return total > shown ? <p>{texts.more(total - shown)}</p> : null;
}
