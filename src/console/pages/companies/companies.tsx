/** All companies: found, and added. */

import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { companyPage, PAGES } from "../../../shared/product/pages.ts";
import { api, type BodyOf, searchOf } from "../../api.ts";
import { mayChange } from "../../roles.ts";
import { forgetAnswers, signedIn } from "../../signed-in.tsx";
import { common } from "../../texts/common.ts";
import { companyTexts as texts } from "../../texts/companies/companies.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Input } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Page } from "../../ui/page.tsx";
import { pageOf } from "../../ui/page-number.ts";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { useTyped } from "../../ui/use-typed.ts";
import { Loaded, useApi } from "../../use-api.tsx";
import { useWanted } from "../../use-wanted.ts";
import { Address } from "../admin/cut.tsx";
import { forRole, ReadOnly, useRole } from "../admin/for-role.tsx";
import { type Company, type CompanyField, changeIn, FIELDS, isTorn, LimitField } from "./fields.tsx";

export const Companies = signedIn("admin", forRole("users", CompaniesPage));

const PAGE_SIZE = 25;
/** Longer than any text that the service searches for. */
const MAX_SEARCH = 128;

function CompaniesPage() {
  const { query, route } = useLocation();
  const page = pageOf(query.page);
  const q = (query.q ?? "").slice(0, MAX_SEARCH);
  const address = (search: object) => `${PAGES.companies}${searchOf(search)}`;
  const typed = useTyped(q, (value) => route(address({ q: value }) + location.hash, true));
  const companies = useApi("GET /companies", {
    query: { ...(q.trim() === "" ? {} : { q: q.trim() }), page: String(page), page_size: String(PAGE_SIZE) },
  });
  const isAllowed = mayChange(useRole(), "users");
  const [isMaking, setMaking] = useState(false);
  useWanted("make", () => setMaking(isAllowed));
  return (
    <Page
      title={texts.title}
      actions={
        isAllowed ? (
          <Button kind="primary" onClick={() => setMaking(true)}>
            {texts.make.open}
          </Button>
        ) : null
      }
    >
      <p class="lead">{texts.lead}</p>
      <ReadOnly area="users" />
      <search>
        <Input
          label={texts.search}
          type="search"
          maxLength={MAX_SEARCH}
          autocomplete="off"
          value={typed.value}
          onValue={typed.type}
        />
      </search>
      <Loaded query={companies}>
        {({ items, total }) => (
          <>
            <p role="status">{texts.found(total)}</p>
            <PagedTable
              caption={texts.title}
              columns={COLUMNS}
              {...{ items, total, page }}
              pageSize={PAGE_SIZE}
              href={(to) => address({ q, page: to === 1 ? "" : to })}
              empty={total === 0 ? texts.empty : common.pastEnd(total)}
            />
          </>
        )}
      </Loaded>
      {isMaking ? <MakeCompany onClose={() => setMaking(false)} /> : null}
    </Page>
  );
}

const LOOKS = { active: "active", ending: "pending", ended: "expired" } as const;

export function CompanyStatus({ status }: Pick<Company, "status">) {
  return <span class={`status ${LOOKS[status]}`}>{texts.statuses[status]}</span>;
}

const COLUMNS: readonly Column<Company>[] = [
  {
    name: texts.fields.name.label,
    isHeader: true,
    cell: ({ id, name }) => (
      <a href={companyPage(id)}>
        <bdi>{name}</bdi>
      </a>
    ),
  },
  { name: texts.columns.status, isEvident: true, cell: CompanyStatus },
  {
    name: texts.columns.users,
    isEvident: true,
    cell: ({ users, max_users: most }) => <span class="whole">{texts.users(users, most)}</span>,
  },
  {
    name: texts.fields.contract_end.label,
    cell: ({ contract_end: end }) => (end === null ? texts.fields.contract_end.none : <Time at={end} isEnd />),
  },
  {
    name: texts.fields.sponsor_email.label,
    cell: ({ sponsor_email: sponsor }) => (sponsor === "" ? common.dash : <Address text={sponsor} />),
  },
];

function MakeCompany({ onClose }: { readonly onClose: () => void }) {
  const { route } = useLocation();
  const [typed, setTyped] = useState<Partial<Record<CompanyField, string>>>({});
  const [wrong, setWrong] = useState<CompanyField>();
  const work = useAction(async () => {
    const given = FIELDS.map((field) => [field, changeIn(field, typed[field] ?? "")] as const);
    const [fault] = given.find(([, change]) => change === undefined) ?? [];
    const torn = document.querySelector<HTMLInputElement>("dialog input:invalid")?.name as CompanyField | undefined;
    setWrong(fault ?? torn);
    if (fault !== undefined || isTorn()) return;
    const body: BodyOf<"POST /companies"> = Object.assign({ name: "" }, ...given.map(([, change]) => change));
    const { id } = await api("POST /companies", { body });
    await forgetAnswers();
    route(companyPage(id));
  });
  return (
    <FormDialog title={texts.make.title} texts={texts.make} {...{ work, onClose }}>
      {FIELDS.map((field) => (
        <LimitField
          key={field}
          field={field}
          text={typed[field] ?? ""}
          onText={(text) => setTyped({ ...typed, [field]: text })}
          error={wrong === field ? texts.wrong : undefined}
        />
      ))}
    </FormDialog>
  );
}
