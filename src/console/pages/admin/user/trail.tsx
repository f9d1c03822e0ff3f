/** The newest of what the audit log has about a user, deleted or not. */

import { PAGES } from "../../../../shared/pages.ts";
import { type AnswerOf, searchOf } from "../../../api.ts";
import { userTexts } from "../../../texts/admin-user.ts";
import { Section } from "../../../ui/page.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Loaded, useApi } from "../../../use-api.tsx";

type AuditRecord = AnswerOf<"GET /audit">["items"][number];

const NEWEST = 10;

export function Trail({ id }: { readonly id: number }) {
  const { trail } = userTexts;
  const answer = useApi("GET /audit", { query: { user_id: String(id), page_size: String(NEWEST) } });
  return (
    <Section title={trail.title}>
      <Loaded query={answer}>
        {({ total, items }) =>
          total === 0 ? (
            <p class="quiet">{trail.none}</p>
          ) : (
            <div class="stack">
              <Table caption={trail.title} columns={columns()} items={items} />
              <p>
                <a href={`${PAGES.audit}${searchOf({ user_id: id })}`}>{trail.all(total)}</a>
              </p>
            </div>
          )
        }
      </Loaded>
    </Section>
  );
}

function columns(): readonly Column<AuditRecord>[] {
  const { trail } = userTexts;
  return [
    { name: trail.when, isHeader: true, cell: ({ created_at }) => <Time at={created_at} both /> },
    {
      name: trail.what,
      cell: ({ action, result }) => (
        <span>
          <code>{action}</code> {result === "failed" ? <strong class="warned">{trail.failed}</strong> : null}
        </span>
      ),
    },
    {
      name: trail.who,
      cell: ({ actor, actor_type }) => (
        <span>
          <bdi>{actor}</bdi> <span class="quiet">{trail.actors[actor_type]}</span>
        </span>
      ),
    },
    { name: trail.from, cell: ({ ip }) => (ip === "" ? trail.nowhere : <bdi>{ip}</bdi>) },
  ];
}
