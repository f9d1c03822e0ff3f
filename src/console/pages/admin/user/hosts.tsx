/** The hosts where a user has an account, and how far each is with it; nothing where there is only the service's own host. */

import { PAGES } from "../../../../shared/product/pages.ts";
import { type AnswerOf, searchOf } from "../../../api.ts";
import { mayChange } from "../../../roles.ts";
import { userHostTexts as texts } from "../../../texts/admin/user-hosts.ts";
import { Button } from "../../../ui/button.tsx";
import { clockTime } from "../../../ui/clock.ts";
import { Section } from "../../../ui/page.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { useDialog } from "../../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../../use-api.tsx";
import { useRole } from "../for-role.tsx";
import { toldTimes } from "../told-times.ts";
import { ChangeHosts } from "./change-hosts.tsx";
import type { UserRecord } from "./record.ts";

type Place = AnswerOf<"GET /users/:id/hosts">["items"][number];

/** Pending work is usually done soon. */
const WATCHED = 5000;

interface UserHostsProps {
  readonly user: UserRecord;
  readonly onDone: (sentence: string) => void;
}

export function UserHosts({ user, onDone }: UserHostsProps) {
  const all = useApi("GET /hosts", { query: { page_size: "1" } });
  return (all.data?.total ?? 1) > 1 ? <Places user={user} onDone={onDone} /> : null;
}

function Places({ user, onDone }: UserHostsProps) {
  const places = useApi("GET /users/:id/hosts", { params: { id: user.id } }, WATCHED);
  const isAllowed = mayChange(useRole(), "users");
  const { open, start, props } = useDialog<"change">(onDone);
  return (
    <Section title={texts.title}>
      <Loaded query={places}>
        {({ items, hosts, groups }) => (
          <div class="stack">
            {items.length === 0 ? (
              <p class="quiet">{texts.none(user.username)}</p>
            ) : (
              <Table
                caption={texts.title}
                columns={COLUMNS}
                items={items.map((item) => ({ ...item, id: item.host }))}
              />
            )}
            {isAllowed ? (
              <div class="actions">
                <Button onClick={() => start("change")}>{texts.change}</Button>
              </div>
            ) : null}
            {open === undefined ? null : <ChangeHosts {...{ user, hosts, groups }} {...props} />}
          </div>
        )}
      </Loaded>
    </Section>
  );
}

const LOOKS = { applied: "active", pending: "pending", problem: "expired" } as const;

const COLUMNS: readonly Column<Place & { readonly id: string }>[] = [
  {
    name: texts.host,
    isHeader: true,
    cell: ({ host }) => <a href={`${PAGES.hosts}${searchOf({ q: host })}`}>{host}</a>,
  },
  { name: texts.by, cell: ({ group, removing }) => (removing ? texts.removing : givenBy(group)) },
  {
    name: texts.state,
    cell: ({ state, problem, removing, lease_until: until }) => (
      <div class="event">
        <span class={`status ${LOOKS[state]}`}>{texts.states[state]}</span>
        {problem === "" ? null : <Typed text={toldTimes(problem)} />}
        {removing ? <span>{until === null ? texts.forEver : texts.until(clockTime(until))}</span> : null}
      </div>
    ),
  },
  { name: texts.since, cell: ({ since }) => <Time at={since} /> },
];

function givenBy(group: string): string {
  return group === "" ? texts.byName : texts.byGroup(group);
}
