/** All hosts, found and filtered; and for owners, adding one. */

import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { hostPage, PAGES } from "../../../shared/product/pages.ts";
import { OddFilters } from "../../odd-notice.tsx";
import { mayChange } from "../../roles.ts";
import { signedIn } from "../../signed-in.tsx";
import { common } from "../../texts/common.ts";
import { hostTexts as texts } from "../../texts/hosts/hosts.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { type Column, Pager, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Loaded, useApi } from "../../use-api.tsx";
import { useWanted } from "../../use-wanted.ts";
import { inParts } from "../admin/cut.tsx";
import { Done } from "../admin/done.tsx";
import { forRole, ReadOnly, useRole } from "../admin/for-role.tsx";
import { ListHead } from "../admin/list-head.tsx";
import { useOneTimeSecret } from "../admin/one-time-secret.tsx";
import { AddHost, type MadeLine } from "./add-host.tsx";
import { Filters } from "./filters.tsx";
import { HostStatus, LeaseEnd } from "./host-state.tsx";
import { JoinLine } from "./join-line.tsx";
import type { HostRecord } from "./state.ts";
import { addressOfHosts, askOf, FILTERS, type HostsView, isAll, readHostsView } from "./view.ts";

const PAGE_SIZE = 50;
/** Hosts come, go silent and confirm while somebody looks. */
const WATCHED = 15_000;

export const Hosts = signedIn("admin", forRole("hosts", HostsPage));

function HostsPage() {
  const { query } = useLocation();
  const view = readHostsView(query);
  const hosts = useApi("GET /hosts", { query: askOf(view, PAGE_SIZE) }, WATCHED);
  const isOwner = mayChange(useRole(), "hosts");
  const [isAdding, setAdding] = useState(false);
  useWanted("add", () => setAdding(isOwner));
  const [line, setLine] = useState<MadeLine>();
  const made = useOneTimeSecret(texts.line.closed);
  function show(line: MadeLine) {
    setLine(line);
    made.show(<JoinLine made={line} onClose={made.hide} />);
  }
  return (
    <Page
      title={texts.title}
      actions={
        <>
          <a class="button" href={PAGES.hostGroups}>
            {texts.groups}
          </a>
          {isOwner ? (
            <Button kind="primary" onClick={() => setAdding(true)}>
              {texts.add.open}
            </Button>
          ) : null}
        </>
      }
    >
      <p class="lead">{texts.lead}</p>
      <ReadOnly area="hosts" />
      <Done key={line?.line ?? ""} what={made.what} />
      <OddFilters path={PAGES.hosts} query={query} filters={FILTERS} />
      <Filters view={view} />
      <Loaded query={hosts}>{({ items, total }) => <List {...{ view, items, total }} />}</Loaded>
      {isAdding ? <AddHost onClose={() => setAdding(false)} onMade={show} /> : null}
    </Page>
  );
}

interface ListProps {
  readonly view: HostsView;
  readonly items: readonly HostRecord[];
  readonly total: number;
}

function List({ view, items, total }: ListProps) {
  return (
    <div class="stack">
      <ListHead>
        <p role="status">{texts.found(total, isAll(view))}</p>
      </ListHead>
      {items.length > 0 ? (
        <div class="table hosts">
          <Table caption={texts.caption} columns={COLUMNS} items={items} />
        </div>
      ) : total === 0 ? (
        <div class="card empty">
          <p>{texts.empty}</p>
          <a href={PAGES.hosts}>{texts.all}</a>
        </div>
      ) : null}
      {isAll(view) && total === 1 ? <p class="quiet">{texts.alone}</p> : null}
      {total > PAGE_SIZE ? (
        <Pager
          {...{ page: view.page, pageSize: PAGE_SIZE, total }}
          href={(page) => addressOfHosts({ ...view, page })}
        />
      ) : null}
    </div>
  );
}

const COLUMNS: readonly Column<HostRecord>[] = [
  {
    name: texts.columns.name,
    isHeader: true,
    cell: ({ id, name, ssh_host, kind }) => (
      <div class="event">
        <a href={hostPage(id)}>{inParts(name)}</a>
        {kind === "local" ? <span class="hint">{texts.own}</span> : null}
        {ssh_host === "" || ssh_host === name ? null : <bdi class="hint typed">{inParts(ssh_host)}</bdi>}
      </div>
    ),
  },
  { name: texts.columns.state, isEvident: true, cell: (host) => <HostStatus host={host} /> },
  {
    name: texts.columns.groups,
    cell: ({ groups }) => (groups.length === 0 ? <span class="quiet">{texts.noGroup}</span> : groups.join(", ")),
  },
  { name: texts.columns.lease, cell: (host) => <LeaseEnd host={host} /> },
  {
    name: texts.columns.problems,
    cell: ({ problems }) =>
      problems === 0 ? (
        <span class="quiet">{texts.noProblem}</span>
      ) : (
        <span class="status expired">{texts.problems(problems)}</span>
      ),
  },
  {
    name: texts.columns.version,
    cell: ({ kind, version, clock_offset_ms: offset }) =>
      kind === "local" ? (
        common.dash
      ) : (
        <div class="event">
          <bdi class="typed">{version}</bdi>
          <span class={Math.abs(offset) < 2000 ? "hint" : "warned"}>{texts.clock(offset)}</span>
        </div>
      ),
  },
  {
    name: texts.columns.seen,
    cell: ({ kind, last_seen_at: at }) =>
      kind === "local" ? common.dash : at === null ? texts.never : <Time at={at} />,
  },
];
