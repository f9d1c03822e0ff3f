/** Who could log in at a moment of the past; the moment and the filters are in the address. */

import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { PAGES, userPage } from "../../../../shared/product/pages.ts";
import { type AnswerOf, searchOf } from "../../../api.ts";
import { instantOf, localOf } from "../../../local-time.ts";
import { anyText, type Filters } from "../../../odd-filters.ts";
import { OddFilters } from "../../../odd-notice.tsx";
import { maySee } from "../../../roles.ts";
import { signedIn } from "../../../signed-in.tsx";
import { accessTexts as texts } from "../../../texts/admin/access.ts";
import { Button } from "../../../ui/button.tsx";
import { moment, now, zone } from "../../../ui/clock.ts";
import { Input } from "../../../ui/field.tsx";
import { Form } from "../../../ui/form.tsx";
import { isolated } from "../../../ui/isolated.ts";
import { Notice } from "../../../ui/notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { pageOf } from "../../../ui/page-number.ts";
import { type Column, PagedTable } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { Loaded, useApi } from "../../../use-api.tsx";
import { inParts } from "../cut.tsx";
import { forRole, useRole } from "../for-role.tsx";
import { Export } from "./export.tsx";
import { FoundHead } from "./found-head.tsx";

/** Each page has the service read the log. */
const PAGE_SIZE = 100;

/** As in the address, by the API's names; "" for none. */
type View = Readonly<Record<"at" | "host" | "company", string>>;
type List = AnswerOf<"GET /access">;
type Account = List["items"][number] & { readonly id: string };

const VALUES: Filters = { at: (value) => localOf(value) !== "", host: anyText, company: anyText };

export const PastAccess = signedIn("admin", forRole("access", PastAccessPage));

function PastAccessPage() {
  const { query } = useLocation();
  const { at = "", host = "", company = "" } = query;
  const view = { at: localOf(at) === "" ? "" : at, host, company };
  return (
    <Page title={texts.title}>
      <p class="lead">{texts.lead}</p>
      <p class="quiet">{texts.meaning}</p>
      <OddFilters path={PAGES.access} query={query} filters={VALUES} />
      <Question key={addressOf(view)} view={view} />
      <Accounts view={view} page={pageOf(query.page)} />
    </Page>
  );
}

function addressOf(view: Partial<View>, page = 1): string {
  return `${PAGES.access}${searchOf({ ...view, page: page === 1 ? undefined : page })}`;
}

/** The form; rendered anew where the address says something else. */
function Question({ view }: { readonly view: View }) {
  const { fields } = texts;
  const { route } = useLocation();
  const [typed, setTyped] = useState(view);
  const [fault, setFault] = useState<string>();
  const set = (name: keyof View) => (value: string) => setTyped({ ...typed, [name]: value });
  function show() {
    const isFuture = Date.parse(typed.at) > now();
    setFault(isFuture ? fields.future : undefined);
    if (!isFuture) route(addressOf({ at: typed.at, host: typed.host.trim(), company: typed.company.trim() }));
  }
  return (
    <Form class="card filter-form" onSubmit={show}>
      <div class="filters">
        <Input
          label={fields.at}
          hint={fields.atHint(zone())}
          error={fault}
          type="datetime-local"
          name="at"
          value={localOf(typed.at)}
          onValue={(local) => set("at")(instantOf(local, "since"))}
        />
        {(["host", "company"] as const).map((name) => (
          <Input
            key={name}
            label={fields[name]}
            hint={fields[`${name}Hint`]}
            type="search"
            name={name}
            value={typed[name]}
            onValue={set(name)}
          />
        ))}
      </div>
      <p class="actions">
        <Button type="submit" kind="primary">
          {fields.show}
        </Button>
        {addressOf(view) === PAGES.access ? null : <a href={PAGES.access}>{fields.clear}</a>}
      </p>
    </Form>
  );
}

function Accounts({ view, page }: { readonly view: View; readonly page: number }) {
  const query = { ...view, page: String(page), page_size: String(PAGE_SIZE) };
  const answer = useApi("GET /access", { query }, false);
  const { data, isPlaceholderData } = answer;
  const seesTrails = maySee(useRole(), "audit");
  // Other pages and the file are of the same moment, also where that is now.
  const same = { ...view, at: data?.at ?? view.at };
  return (
    <>
      <section class="results">
        <FoundHead address={addressOf(view, page)} isOlder={data === undefined || isPlaceholderData}>
          {data === undefined ? texts.caption : texts.found(data.total, moment(data.at))}
        </FoundHead>
        <Loaded query={answer}>
          {(list) => (
            <div class="stack">
              <Reach list={list} />
              <PagedTable
                caption={texts.caption}
                columns={columnsFor(seesTrails)}
                items={list.items.map((item) => ({ ...item, id: `${item.user_id} ${item.host}` }))}
                {...{ page, pageSize: PAGE_SIZE, total: list.total }}
                href={(to) => addressOf(same, to)}
                empty={texts.empty}
              />
            </div>
          )}
        </Loaded>
      </section>
      <Export
        route="GET /access"
        query={same}
        isWhole={view.host === "" && view.company === ""}
        formats={["csv"]}
        recorded={texts.recorded}
      />
    </>
  );
}

/** How far the log reaches. */
function Reach({ list: { unknown, complete_from: from } }: { readonly list: List }) {
  const since = from === null ? "" : texts.complete(moment(from));
  if (unknown === 0) return <p class="quiet">{since}</p>;
  return (
    <Notice kind="warn">
      <p>
        {texts.lacking(unknown)} {since}
      </p>
    </Notice>
  );
}

function columnsFor(seesTrails: boolean): readonly Column<Account>[] {
  const { columns } = texts;
  return [
    {
      name: columns.user,
      isHeader: true,
      cell: ({ user_id, username, deleted }) => (
        <span class="event">
          {/* Of a deleted user the page has the trail alone. */}
          {deleted && !seesTrails ? username : <a href={userPage(user_id)}>{username}</a>}
          {deleted ? <span class="quiet">{texts.deleted}</span> : null}
        </span>
      ),
    },
    { name: columns.host, cell: ({ host }) => <bdi class="typed address">{inParts(host)}</bdi> },
    { name: columns.until, cell: ({ until }) => <Time at={until} both /> },
    { name: columns.by, cell: ({ decided_by }) => <Typed text={decided_by} /> },
    { name: columns.profile, cell: ({ profile }) => (profile === "" ? texts.anything : <Typed text={profile} />) },
    {
      name: columns.keys,
      isEvident: true,
      cell: ({ username, host, fingerprints }) => (
        <details>
          <summary aria-label={texts.keysOf(fingerprints.length, isolated(username), isolated(host))}>
            {texts.keys(fingerprints.length)}
          </summary>
          {fingerprints.map((fingerprint) => (
            <div key={fingerprint}>
              <code>{fingerprint}</code>
            </div>
          ))}
        </details>
      ),
    },
  ];
}
