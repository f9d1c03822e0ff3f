/** The audit log: what was recorded, by filters that are in the address; the log as a file; and how it is verified. */

import { useLocation } from "preact-iso";
import { PAGES } from "../../../shared/product/pages.ts";
import type { Ask, QueryOf } from "../../api.ts";
import { OddFilters } from "../../odd-notice.tsx";
import { signedIn } from "../../signed-in.tsx";
import { auditTexts as texts } from "../../texts/admin/audit.ts";
import { moment } from "../../ui/clock.ts";
import { Copyable } from "../../ui/copy.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { pageOf } from "../../ui/page-number.ts";
import { Pager } from "../../ui/table.tsx";
import { Loaded, useApi } from "../../use-api.tsx";
import { Export } from "./audit/export.tsx";
import { type AuditFilter, auditHref, FILTERS, filterOf, RANGES, VALUES } from "./audit/filter.ts";
import { FilterForm } from "./audit/filter-form.tsx";
import { FoundHead } from "./audit/found-head.tsx";
import { Records } from "./audit/records.tsx";
import { forRole } from "./for-role.tsx";

const PAGE_SIZE = 25;

export const Audit = signedIn(
  "admin",
  forRole("audit", () => {
    const { query } = useLocation();
    const filter = filterOf(query);
    return (
      <Page title={texts.title}>
        <p class="lead">
          {texts.lead} <a href={PAGES.access}>{texts.access}</a>
        </p>
        <OddFilters path={PAGES.audit} query={query} filters={VALUES} />
        <FilterForm key={auditHref(filter)} filter={filter} />
        <Ranges filter={filter} />
        <Results filter={filter} page={pageOf(query.page)} />
        <Export
          route="GET /audit/export"
          query={filter as QueryOf<"GET /audit/export"> & object}
          isWhole={FILTERS.every((name) => filter[name] === "")}
        />
        <Verification />
      </Page>
    );
  }),
);

/** Spans of time, one of which is in force or none; the other filters stay. */
function Ranges({ filter }: { readonly filter: AuditFilter }) {
  const { label, ...names } = texts.ranges;
  return (
    <nav class="actions ranges" aria-label={label}>
      {(Object.keys(RANGES) as (keyof typeof RANGES)[]).map((name) => {
        const since = RANGES[name]();
        const isChosen = filter.until === "" && filter.since === since;
        return (
          <a key={name} href={auditHref({ ...filter, since, until: "" })} aria-current={isChosen ? "true" : undefined}>
            {names[name]}
          </a>
        );
      })}
    </nav>
  );
}

function Results({ filter, page }: { readonly filter: AuditFilter; readonly page: number }) {
  // The service checks the values in the address.
  const asked = { ...filter, page: String(page), page_size: String(PAGE_SIZE) } as Ask<"GET /audit">["query"] & object;
  const answer = useApi("GET /audit", { query: asked });
  const { data, isPlaceholderData } = answer;
  return (
    <section class="results">
      <FoundHead address={auditHref(filter, page)} isOlder={data === undefined || isPlaceholderData}>
        {data === undefined ? texts.caption : texts.found(data.total)}
      </FoundHead>
      <Loaded query={answer}>
        {({ total, items, searched }) => (
          <>
            {items.length === 0 ? (
              <Empty isPast={total > 0} filter={filter} />
            ) : (
              <>
                <Records items={items} />
                <Pager page={page} pageSize={PAGE_SIZE} total={total} href={(to) => auditHref(filter, to)} />
              </>
            )}
            {searched === undefined || searched.complete || searched.since === null ? null : (
              <p>
                {texts.searched(searched.records, moment(searched.since), filter.result === "failed")}{" "}
                <a href={auditHref({ ...filter, until: searched.since })}>{texts.further}</a>
              </p>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Empty({ isPast, filter }: { readonly isPast: boolean; readonly filter: AuditFilter }) {
  return (
    <div class="empty card">
      <p>{isPast ? texts.emptyPage : texts.empty}</p>
      {isPast ? <a href={auditHref(filter)}>{texts.first}</a> : <a href={auditHref({})}>{texts.filter.clear}</a>}
    </div>
  );
}

function Verification() {
  const { verify } = texts;
  return (
    <Section title={verify.title}>
      <p>{verify.text}</p>
      <Copyable text="uam audit verify" label={verify.label} />
      <p>{verify.head}</p>
      <Copyable text="uam audit verify --head NUMBER:SEAL" label={verify.headLabel} />
    </Section>
  );
}
