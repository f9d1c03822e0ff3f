/** Requests for access and more time: a queue to decide, and the decided ones. */

import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { PAGES } from "../../../shared/product/pages.ts";
import { OddFilters } from "../../odd-notice.tsx";
import { mayChange } from "../../roles.ts";
import { signedIn } from "../../signed-in.tsx";
import { applicationTexts } from "../../texts/admin/applications.ts";
import { Select } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { Loaded, useApi, WATCHED } from "../../use-api.tsx";
import { useAfterAll } from "./applications/after-all.tsx";
import { Queue } from "./applications/queue.tsx";
import {
  type ApplicationsView,
  addressOf,
  FILTERS,
  fromTheEnd,
  KIND_FILTERS,
  readView,
  STATUS_FILTERS,
} from "./applications/view.ts";
import { forRole, ReadOnly, useRole } from "./for-role.tsx";

const PAGE_SIZE = 50;

export const Applications = signedIn("admin", forRole("applications", ApplicationsPage));

function ApplicationsPage() {
  const { query } = useLocation();
  const view = readView(query);
  const role = useRole();
  const { aside } = applicationTexts;
  const [decided, setDecided] = useState<readonly string[]>([]);
  return (
    <Page title={applicationTexts.title}>
      <ReadOnly area="applications" />
      <OddFilters path={PAGES.applications} query={query} filters={FILTERS} />
      <div class="queue-page">
        <div class="stack">
          {/* Another filter is another list: nothing of the one before is shown meanwhile. */}
          <Shown
            key={`${view.status} ${view.kind}`}
            {...{ view, decided }}
            onDecided={(sentence) => setDecided((before) => [sentence, ...before])}
          />
        </div>
        {/* After the list, so that from the heading one step leads to what has to be decided. */}
        <aside class="card" aria-label={aside.label}>
          <Filters view={view} />
          {mayChange(role, "applications") ? <Shortcuts /> : null}
        </aside>
      </div>
    </Page>
  );
}

interface ShownProps {
  readonly view: ApplicationsView;
  /** What was decided since the page was opened, the newest first. */
  readonly decided: readonly string[];
  readonly onDecided: (sentence: string) => void;
}

/** The first page says how many there are, and with it which page has the oldest. */
function Shown({ view, ...rest }: ShownProps) {
  const filter = filterOf(view);
  const first = useApi("GET /approvals", { query: { ...filter, page: "1", page_size: String(PAGE_SIZE) } }, WATCHED);
  const isQueue = view.status === "pending";
  return (
    <Loaded query={first}>
      {({ total }) => (
        <Part {...{ ...rest, view, total, page: isQueue ? fromTheEnd(view.page, total, PAGE_SIZE) : view.page }} />
      )}
    </Loaded>
  );
}

interface PartProps extends ShownProps {
  /** As the service counts them. */
  readonly page: number;
  readonly total: number;
}

function Part({ view, page, decided, onDecided }: PartProps) {
  const query = { ...filterOf(view), page: String(page), page_size: String(PAGE_SIZE) };
  const answer = useApi("GET /approvals", { query }, WATCHED);
  const isQueue = view.status === "pending";
  const afterAll = useAfterAll();
  return (
    <>
      {afterAll.done}
      <Loaded query={answer}>
        {({ items, total }) => (
          <Queue
            items={isQueue ? [...items].reverse() : items}
            total={total}
            pageSize={PAGE_SIZE}
            // The last page of the queue may have been worked off.
            view={isQueue ? { ...view, page: Math.min(view.page, Math.max(1, Math.ceil(total / PAGE_SIZE))) } : view}
            {...{ decided, onDecided }}
            afterAll={afterAll.offer}
          />
        )}
      </Loaded>
      {/* Outside of the list: its keys are letters. */}
      {afterAll.dialog}
    </>
  );
}

function filterOf({ status, kind }: ApplicationsView) {
  return { ...(status === "all" ? {} : { status }), ...(kind === "all" ? {} : { kind }) };
}

function Filters({ view }: { readonly view: ApplicationsView }) {
  const { route } = useLocation();
  const { filters } = applicationTexts;
  return (
    <>
      <h2>{filters.title}</h2>
      <Select
        label={filters.status}
        value={view.status}
        options={STATUS_FILTERS.map((status) => [status, filters.statuses[status]])}
        onValue={(value) => route(addressOf({ ...view, ...readView({ status: value, kind: view.kind }) }))}
      />
      <Select
        label={filters.kind}
        value={view.kind}
        options={KIND_FILTERS.map((kind) => [kind, filters.kinds[kind]])}
        onValue={(value) => route(addressOf({ ...view, ...readView({ status: view.status, kind: value }) }))}
      />
    </>
  );
}

function Shortcuts() {
  const { shortcuts } = applicationTexts;
  return (
    <>
      <h2>{shortcuts.title}</h2>
      <p class="hint">{shortcuts.where}</p>
      <dl class="facts">
        {shortcuts.keys.map(([keys, meaning]) => (
          <div key={meaning} class="fact">
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
