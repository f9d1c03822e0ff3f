/** The users with an account on the host, and how far it is with each. */

import { useLocation } from "preact-iso";
import { hostPage, userPage } from "../../../shared/product/pages.ts";
import { type AnswerOf, searchOf } from "../../api.ts";
import { oneHostTexts } from "../../texts/hosts/host.ts";
import { number } from "../../texts/language.ts";
import { Section } from "../../ui/page.tsx";
import { pageOf } from "../../ui/page-number.ts";
import { Status } from "../../ui/status.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { Typed } from "../../ui/typed.tsx";
import { Loaded, useApi } from "../../use-api.tsx";
import { toldTimes } from "../admin/told-times.ts";
import type { HostDetail } from "./state.ts";

const { people: texts } = oneHostTexts;
const PAGE_SIZE = 25;
/** Pending work is usually done soon. */
const WATCHED = 15_000;

type Person = AnswerOf<"GET /hosts/:id/users">["items"][number];

export function People({ host: { id, kind } }: { readonly host: HostDetail }) {
  const page = pageOf(useLocation().query.page);
  const query = { page: String(page), page_size: String(PAGE_SIZE) };
  const people = useApi("GET /hosts/:id/users", { params: { id }, query }, WATCHED);
  return (
    <Section title={texts.title}>
      <Loaded query={people}>
        {({ items, total }) => (
          <PagedTable
            caption={texts.title}
            columns={kind === "local" ? [...COLUMNS, SESSIONS] : COLUMNS}
            {...{ items, total, page }}
            pageSize={PAGE_SIZE}
            href={(to) => `${hostPage(id)}${searchOf({ page: to === 1 ? undefined : to })}`}
            empty={total === 0 ? texts.none : texts.pastEnd}
          />
        )}
      </Loaded>
      {kind === "local" ? null : <p class="quiet">{texts.sessionsUnknown}</p>}
    </Section>
  );
}

const LOOKS = { applied: "active", pending: "pending", problem: "expired" } as const;

const COLUMNS: readonly Column<Person>[] = [
  {
    name: texts.user,
    isHeader: true,
    cell: ({ id, username, full_name: name }) => (
      <div class="event">
        <a href={userPage(id)}>{username}</a>
        {name === "" ? null : (
          <span class="hint">
            <Typed text={name} />
          </span>
        )}
      </div>
    ),
  },
  { name: texts.status, isEvident: true, cell: ({ status }) => <Status value={status} /> },
  { name: texts.ends, cell: ({ expire_at: at }) => <Time at={at} isEnd /> },
  {
    name: texts.by,
    cell: ({ group, removing }) => (removing ? texts.removing : group === "" ? texts.byName : texts.byGroup(group)),
  },
  {
    name: texts.state,
    cell: ({ state, since, problem }) => (
      <div class="event">
        <span class={`status ${LOOKS[state]}`}>{texts.states[state]}</span>
        {problem === "" ? null : <Typed text={toldTimes(problem)} />}
        {state === "applied" ? null : (
          <span class="hint">
            <Time at={since} />
          </span>
        )}
      </div>
    ),
  },
];

const SESSIONS: Column<Person> = {
  name: texts.sessions,
  cell: ({ sessions }) => (sessions === null ? texts.unknown : number(sessions)),
};
