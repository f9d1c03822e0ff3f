/** Removed single-sign-on administrators, who cannot log in again until an owner lets them. */

import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { PAGES } from "../../../../shared/product/pages.ts";
import { type AnswerOf, api, searchOf } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { adminsTexts } from "../../../texts/admin/admins.ts";
import { Button } from "../../../ui/button.tsx";
import { Section } from "../../../ui/page.tsx";
import { pageOf } from "../../../ui/page-number.ts";
import { type Column, PagedTable } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Loaded, useApi } from "../../../use-api.tsx";
import { type Confirmed, ConfirmedDialog } from "../account/confirm.tsx";

type Removed = AnswerOf<"GET /removed-admins">["items"][number];

const { removed: texts } = adminsTexts;
const PAGE_SIZE = 50;

interface RemovedProps {
  /** Told what was done, in a sentence. */
  readonly onDone: (sentence: string) => void;
}

/** The section about them; nothing where there are none. For owners. */
export function RemovedAdmins({ onDone }: RemovedProps) {
  const { query } = useLocation();
  const [chosen, setChosen] = useState<Removed>();
  // The list of administrators above it has pages of its own.
  const page = pageOf(query.removed);
  const answer = useApi("GET /removed-admins", { query: { page: String(page), page_size: String(PAGE_SIZE) } });
  return (
    <Loaded query={answer}>
      {({ total, items }) =>
        total === 0 ? null : (
          <Section title={texts.title}>
            <p>{texts.text}</p>
            <PagedTable
              caption={texts.caption}
              {...{ items, page, total }}
              columns={columnsFor(setChosen)}
              pageSize={PAGE_SIZE}
              href={(to) => `${PAGES.admins}${searchOf({ page: query.page, removed: to === 1 ? undefined : to })}`}
              empty={adminsTexts.empty}
            />
            {chosen === undefined ? null : (
              <Readmit person={chosen} onClose={() => setChosen(undefined)} onDone={onDone} />
            )}
          </Section>
        )
      }
    </Loaded>
  );
}

function columnsFor(onChoose: (person: Removed) => void): readonly Column<Removed>[] {
  const { columns } = adminsTexts;
  return [
    { name: columns.name, isHeader: true, cell: ({ username }) => username },
    {
      name: texts.provider,
      cell: ({ issuer, subject }) => (
        <div class="event">
          <bdi class="typed">{subject}</bdi>
          <span class="hint">{issuer}</span>
        </div>
      ),
    },
    { name: texts.first, cell: ({ created_at: at }) => <Time at={at} /> },
    {
      name: columns.act,
      isEvident: true,
      cell: (person) => (
        <Button aria-label={texts.openOf(person.username)} onClick={() => onChoose(person)}>
          {texts.open}
        </Button>
      ),
    },
  ];
}

interface ReadmitProps extends RemovedProps {
  readonly person: Removed;
  readonly onClose: () => void;
}

function Readmit({ person: { id, username }, onClose, onDone }: ReadmitProps) {
  const readmit = async (confirmed: Confirmed) => {
    const done = await confirmed((body) => api("DELETE /removed-admins/:id", { params: { id }, body }));
    if (done === undefined) return;
    await forgetAnswers();
    onDone(texts.done(username));
    onClose();
  };
  return (
    <ConfirmedDialog title={texts.titleOf(username)} act={readmit} {...{ onClose, texts }}>
      <p>{texts.effect}</p>
    </ConfirmedDialog>
  );
}
