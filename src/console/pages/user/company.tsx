/** For managers: the people of their company, whose access they may end, and whom they may apply for. */

import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { PAGES } from "../../../shared/product/pages.ts";
import { type AnswerOf, ApiFailure, searchOf } from "../../api.ts";
import { forgetAnswers, signedIn } from "../../signed-in.tsx";
import { common } from "../../texts/common.ts";
import { ownCompanyTexts as texts } from "../../texts/user/company.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { pageOf } from "../../ui/page-number.ts";
import { Status } from "../../ui/status.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Typed } from "../../ui/typed.tsx";
import { useDialog } from "../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../use-api.tsx";
import { ApplyForColleague } from "./company/apply.tsx";
import type { Colleague } from "./company/colleague.ts";
import { EndColleague } from "./company/end.tsx";
import { MoreTimeForColleague } from "./company/time.tsx";
import { Done } from "./done.tsx";
import { useOwnAccount } from "./own-account.ts";
import { Standing } from "./standing.tsx";

type Open = { readonly kind: "end" | "time"; readonly person: Colleague } | { readonly kind: "apply" };

const PAGE_SIZE = 25;

export const OwnCompany = signedIn("user", () => {
  const company = useApi("GET /me/company");
  const own = useOwnAccount();
  const [done, setDone] = useState("");
  const { open, start, props } = useDialog<Open>((sentence) => {
    setDone(sentence);
    void forgetAnswers();
  });
  const isRefused = company.error instanceof ApiFailure && company.error.status === 403;
  return (
    <Page
      title={(isRefused ? undefined : company.data?.name) ?? texts.title}
      actions={
        company.data !== undefined && !isRefused ? (
          <Button kind="primary" onClick={() => start({ kind: "apply" })}>
            {texts.apply.open}
          </Button>
        ) : null
      }
    >
      {done === "" ? null : <Done key={done}>{done}</Done>}
      {isRefused ? (
        <>
          {own.data === undefined ? null : <Standing own={own.data} page="overview" />}
          <p>{texts.refused}</p>
        </>
      ) : (
        <Loaded query={company}>{(data) => <People company={data} onStart={start} />}</Loaded>
      )}
      {open === undefined ? null : open.kind === "apply" ? (
        <ApplyForColleague {...props} />
      ) : open.kind === "end" ? (
        <EndColleague {...props} person={open.person} isSelf={open.person.id === own.data?.id} />
      ) : (
        <MoreTimeForColleague {...props} person={open.person} />
      )}
    </Page>
  );
});

interface PeopleProps {
  readonly company: AnswerOf<"GET /me/company">;
  readonly onStart: (what: Open) => void;
}

function People({ company, onStart }: PeopleProps) {
  const { users, max_users: most, contract_end: end } = company;
  const page = pageOf(useLocation().query.page);
  const people = useApi("GET /me/company/users", { query: { page: String(page), page_size: String(PAGE_SIZE) } });
  return (
    <div class="stack">
      <p>
        {texts.people(users, most)} {end === null ? null : [`${texts.contract} `, <Time key="end" at={end} isEnd />]}
      </p>
      <Loaded query={people}>
        {({ items, total }) => (
          <PagedTable
            caption={texts.title}
            columns={columnsOf(onStart)}
            {...{ items, total, page }}
            pageSize={PAGE_SIZE}
            href={(to) => `${PAGES.ownCompany}${searchOf({ page: to === 1 ? "" : to })}`}
            empty={common.pastEnd(total)}
          />
        )}
      </Loaded>
    </div>
  );
}

function columnsOf(onStart: PeopleProps["onStart"]): readonly Column<Colleague>[] {
  const { columns, end, time } = texts;
  return [
    {
      name: columns.name,
      isHeader: true,
      cell: ({ username, full_name: name, manager }) => (
        <div class="event">
          <bdi>{username}</bdi>
          {manager ? <span class="hint">{texts.manager}</span> : null}
          {name === "" ? null : (
            <span class="hint">
              <Typed text={name} />
            </span>
          )}
        </div>
      ),
    },
    { name: columns.status, isEvident: true, cell: ({ status }) => <Status value={status} /> },
    { name: columns.ends, cell: ({ expire_at: at }) => <Time at={at} isEnd /> },
    { name: columns.login, cell: ({ last_login_at: at }) => (at === null ? texts.never : <Time at={at} />) },
    { name: columns.key, cell: ({ last_key_use_at: at }) => (at === null ? texts.unknown : <Time at={at} />) },
    {
      name: columns.act,
      isEvident: true,
      cell: (person) => (
        <div class="actions">
          {person.status !== "disabled" ? (
            <Button aria-label={time.of(person.username)} onClick={() => onStart({ kind: "time", person })}>
              {time.open}
            </Button>
          ) : null}
          {person.status === "active" ? (
            <Button kind="danger" aria-label={end.of(person.username)} onClick={() => onStart({ kind: "end", person })}>
              {end.open}
            </Button>
          ) : null}
        </div>
      ),
    },
  ];
}
