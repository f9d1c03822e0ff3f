/** Those who answer for users; and for owners and operators, giving all people of one to another. */

import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { PAGES } from "../../../shared/product/pages.ts";
import { isEmail } from "../../../shared/text/person.ts";
import { type AnswerOf, api, searchOf } from "../../api.ts";
import { mayChange } from "../../roles.ts";
import { forgetAnswers, signedIn } from "../../signed-in.tsx";
import { sponsorTexts as texts } from "../../texts/admin/sponsors.ts";
import { Button } from "../../ui/button.tsx";
import { Input } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { pageOf } from "../../ui/page-number.ts";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type DialogProps, useDialog } from "../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../use-api.tsx";
import { Address } from "../admin/cut.tsx";
import { Done, useDone } from "../admin/done.tsx";
import { forRole, ReadOnly, useRole } from "../admin/for-role.tsx";
import { PreviewedDialog } from "../admin/previewed-dialog.tsx";

type Sponsor = AnswerOf<"GET /sponsors">["items"][number] & { readonly id: string };

const PAGE_SIZE = 50;

export const Sponsors = signedIn("admin", forRole("reviews", SponsorsPage));

function SponsorsPage() {
  const page = pageOf(useLocation().query.page);
  const answer = useApi("GET /sponsors", { query: { page: String(page), page_size: String(PAGE_SIZE) } });
  const done = useDone();
  const { open, start, props } = useDialog<string>((sentence) => {
    done.tell(sentence);
    void forgetAnswers();
  });
  const columns = mayChange(useRole(), "reviews") ? [...COLUMNS, moving(start)] : COLUMNS;
  return (
    <Page title={texts.title}>
      <p class="lead">{texts.lead}</p>
      <ReadOnly area="reviews" />
      <Done what={done.what} />
      <Loaded query={answer}>
        {({ items, total }) => (
          <PagedTable
            caption={texts.title}
            {...{ columns, page, total }}
            items={items.map((sponsor) => ({ ...sponsor, id: sponsor.email }))}
            pageSize={PAGE_SIZE}
            href={(to) => `${PAGES.sponsors}${searchOf({ page: to })}`}
            empty={texts.empty}
          />
        )}
      </Loaded>
      {open === undefined ? null : <Move from={open} {...props} />}
    </Page>
  );
}

const COLUMNS: readonly Column<Sponsor>[] = [
  { name: texts.columns.email, isHeader: true, cell: ({ email }) => <Address text={email} /> },
  { name: texts.columns.users, cell: ({ users }) => users },
  { name: texts.columns.answer, cell: ({ last_answer_at: at }) => (at === null ? texts.never : <Time at={at} />) },
  {
    name: texts.columns.mail,
    cell: ({ undeliverable }) => (undeliverable ? <span class="status expired">{texts.lost}</span> : texts.reached),
  },
];

function moving(start: (email: string) => void): Column<Sponsor> {
  const cell = ({ email }: Sponsor) => (
    <Button aria-label={texts.move.openOf(email)} onClick={() => start(email)}>
      {texts.move.open}
    </Button>
  );
  return { name: texts.columns.act, isEvident: true, cell };
}

function Move({ from, ...props }: DialogProps & { readonly from: string }) {
  const [typed, setTyped] = useState("");
  const to = typed.trim();
  return (
    <PreviewedDialog
      title={texts.move.title(from)}
      texts={texts.move}
      wanted={isEmail(to) ? { from, to } : undefined}
      preview={async (body) => {
        const told = await api("POST /sponsors/move", { query: { preview: "true" }, body });
        return "preview" in told ? told : {};
      }}
      change={async (body) => {
        const { moved } = await api("POST /sponsors/move", { body });
        return texts.move.done(body.to, moved);
      }}
      {...props}
    >
      <Input label={texts.move.to} type="email" autocomplete="off" required value={typed} onValue={setTyped} />
    </PreviewedDialog>
  );
}
