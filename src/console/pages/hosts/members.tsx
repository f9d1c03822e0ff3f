/** The hosts of a group, and taking one out. */

import { useLocation } from "preact-iso";
import { hostGroupPage, hostPage } from "../../../shared/product/pages.ts";
import { searchOf } from "../../api.ts";
import { mayChange } from "../../roles.ts";
import { groupTexts } from "../../texts/hosts/host-groups.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/page.tsx";
import { pageOf } from "../../ui/page-number.ts";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { useDialog } from "../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../use-api.tsx";
import { useRole } from "../admin/for-role.tsx";
import { TakeOut } from "./group-changes.tsx";
import type { Group } from "./host-groups.tsx";
import { HostStatus, LeaseEnd } from "./host-state.tsx";
import type { HostRecord } from "./state.ts";

const { members: texts } = groupTexts;
const PAGE_SIZE = 50;

interface MembersProps {
  readonly group: Group;
  readonly onDone: (sentence: string) => void;
}

export function Members({ group, onDone }: MembersProps) {
  const page = pageOf(useLocation().query.page);
  const hosts = useApi("GET /hosts", {
    query: { group: group.name, page: String(page), page_size: String(PAGE_SIZE) },
  });
  const isOwner = mayChange(useRole(), "hosts");
  const { open: leaving, start, props } = useDialog<string>(onDone);
  return (
    <Section title={texts.title}>
      <Loaded query={hosts}>
        {({ items, total }) => (
          <PagedTable
            caption={texts.caption}
            columns={columnsOf(isOwner ? start : undefined)}
            {...{ items, total, page }}
            pageSize={PAGE_SIZE}
            href={(to) => `${hostGroupPage(group.id)}${searchOf({ page: to === 1 ? undefined : to })}`}
            empty={texts.none}
          />
        )}
      </Loaded>
      {leaving === undefined ? null : <TakeOut group={group} host={leaving} {...props} />}
    </Section>
  );
}

function columnsOf(onLeave: ((host: string) => void) | undefined): readonly Column<HostRecord>[] {
  const act: Column<HostRecord> = {
    name: texts.act,
    cell: ({ name }) => (
      <Button kind="danger" aria-label={texts.removeOf(name)} onClick={() => onLeave?.(name)}>
        {texts.remove}
      </Button>
    ),
  };
  return [
    { name: texts.name, isHeader: true, cell: ({ id, name }) => <a href={hostPage(id)}>{name}</a> },
    { name: texts.state, cell: (host) => <HostStatus host={host} /> },
    { name: texts.lease, cell: (host) => <LeaseEnd host={host} /> },
    ...(onLeave === undefined ? [] : [act]),
  ];
}
