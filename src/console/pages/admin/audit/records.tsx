/** Audit records in words, with what is stored behind each. */

import { userPage } from "../../../../shared/product/pages.ts";
import { actionTexts } from "../../../texts/admin/actions.ts";
import { auditTexts as texts } from "../../../texts/admin/audit.ts";
import { common } from "../../../texts/common.ts";
import { moment } from "../../../ui/clock.ts";
import { isolated } from "../../../ui/isolated.ts";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { auditHref } from "./filter.ts";
import { type AuditRecord, linesOf, sentenceOf } from "./sentence.ts";

const WORDING = { texts: actionTexts, isolated, moment };

const COLUMNS: readonly Column<AuditRecord>[] = [
  { name: texts.columns.when, isEvident: true, cell: ({ created_at }) => <Time at={created_at} both /> },
  { name: texts.columns.what, isHeader: true, cell: (record) => <Event record={record} /> },
  {
    name: texts.columns.from,
    isEvident: true,
    cell: ({ ip }) => (ip === "" ? common.dash : <bdi class="whole">{ip}</bdi>),
  },
];

/** A table of records. */
export function Records({ items }: { readonly items: readonly AuditRecord[] }) {
  return (
    <div class="table events">
      <Table caption={texts.caption} columns={COLUMNS} items={items} />
    </div>
  );
}

function Event({ record }: { readonly record: AuditRecord }) {
  const { sentence, why } = sentenceOf(record, WORDING);
  return (
    <div class="record">
      <p>
        {record.result === "failed" ? <span class="status rejected">{texts.failed}</span> : null} {sentence}
      </p>
      {why === "" ? null : (
        <p class="quiet">
          {texts.why} <Typed text={why} />
        </p>
      )}
      <details>
        <summary aria-label={texts.rawOf(record.id)}>{texts.raw}</summary>
        <Links record={record} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls */}
        <section class="scroll" aria-label={texts.rawOf(record.id)} tabIndex={0}>
          <pre>
            <code>{linesOf(record)}</code>
          </pre>
        </section>
      </details>
    </div>
  );
}

/** To what else is on record about the same. */
function Links({ record: { resource_type: type, resource_id: id, actor } }: { readonly record: AuditRecord }) {
  return (
    <p class="actions">
      {type === "user" && id !== "" ? (
        <>
          <a href={auditHref({ user_id: id })}>{texts.about.user}</a>
          <a href={userPage(id)}>{texts.about.open}</a>
        </>
      ) : null}
      {type !== "user" && type !== "" && id !== "" ? (
        <a href={auditHref({ resource_type: type, resource_id: id })}>{texts.about[type]}</a>
      ) : null}
      {actor === "" ? null : <a href={auditHref({ actor })}>{texts.about.actor(isolated(actor))}</a>}
    </p>
  );
}
