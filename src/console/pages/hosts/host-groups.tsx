/** Groups of hosts; and for owners, making one. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { hostGroupPage, PAGES } from "../../../shared/product/pages.ts";
import { type AnswerOf, api } from "../../api.ts";
import { mayChange } from "../../roles.ts";
import { forgetAnswers, signedIn } from "../../signed-in.tsx";
import { common } from "../../texts/common.ts";
import { groupTexts as texts } from "../../texts/hosts/host-groups.ts";
import { hostTexts } from "../../texts/hosts/hosts.ts";
import { number } from "../../texts/language.ts";
import { useAction } from "../../ui/action.ts";
import { Button } from "../../ui/button.tsx";
import { Input } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Page } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Loaded, useApi } from "../../use-api.tsx";
import { Done, useDone } from "../admin/done.tsx";
import { forRole, ReadOnly, useRole } from "../admin/for-role.tsx";
import { useProfile } from "../profiles/choice.tsx";
import { leaseIn, nameIn } from "./lease-text.ts";

export type Group = AnswerOf<"GET /host-groups/:id">;

export const HostGroups = signedIn("admin", forRole("hosts", HostGroupsPage));

function HostGroupsPage() {
  const groups = useApi("GET /host-groups");
  const isOwner = mayChange(useRole(), "hosts");
  const [isMaking, setMaking] = useState(false);
  const done = useDone();
  return (
    <Page
      title={texts.title}
      actions={
        <>
          <a class="button" href={PAGES.hosts}>
            {texts.hosts}
          </a>
          {isOwner ? (
            <Button kind="primary" onClick={() => setMaking(true)}>
              {texts.make.open}
            </Button>
          ) : null}
        </>
      }
    >
      <p class="lead">{texts.lead}</p>
      <ReadOnly area="hosts" />
      <Done what={done.what} />
      <Loaded query={groups}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="empty">{texts.empty}</p>
          ) : (
            <div class="table">
              <Table caption={texts.caption} columns={COLUMNS} items={items} />
            </div>
          )
        }
      </Loaded>
      {isMaking ? (
        <MakeGroup
          onClose={() => setMaking(false)}
          onDone={(content) => {
            setMaking(false);
            done.show(content);
          }}
        />
      ) : null}
    </Page>
  );
}

const COLUMNS: readonly Column<Group>[] = [
  { name: texts.columns.name, isHeader: true, cell: ({ id, name }) => <a href={hostGroupPage(id)}>{name}</a> },
  { name: texts.columns.hosts, cell: ({ hosts }) => number(hosts.length) },
  { name: texts.columns.users, cell: ({ users }) => number(users) },
  { name: texts.columns.lease, cell: ({ lease }) => <GroupLease lease={lease} /> },
  { name: texts.columns.fresh, cell: ({ for_new_users: fresh }) => (fresh ? texts.fresh : common.dash) },
];

/** The lease that a group gives its hosts, in red where that is none. */
export function GroupLease({ lease }: Pick<Group, "lease">) {
  if (lease === null) return <span class="quiet">{texts.usual}</span>;
  return lease === "none" ? <strong class="bad-text">{texts.noLease}</strong> : <span>{lease}</span>;
}

interface MakeProps {
  readonly onClose: () => void;
  readonly onDone: (content: ComponentChildren) => void;
}

function MakeGroup({ onClose, onDone }: MakeProps) {
  const { make } = texts;
  const [name, setName] = useState("");
  const [lease, setLease] = useState("");
  const profile = useProfile();
  const [wrong, setWrong] = useState<{ readonly name?: string; readonly lease?: string }>({});
  const work = useAction(async () => {
    const wanted = nameIn(name);
    const length = leaseIn(lease);
    const faults = {
      ...(wanted === undefined ? { name: make.nameWrong } : {}),
      ...(length === undefined ? { lease: texts.lease.wrong } : {}),
    };
    setWrong(faults);
    if (wanted === undefined || length === undefined) return;
    const group = await api("POST /host-groups", { body: { name: wanted, lease: length, ...profile.changes } });
    await forgetAnswers();
    onDone(
      <p>
        {make.done(group.name)} <a href={hostGroupPage(group.id)}>{hostTexts.line.open(group.name)}</a>
      </p>,
    );
  });
  return (
    <FormDialog title={make.title} texts={make} {...{ work, onClose }}>
      <Input
        label={make.name}
        error={wrong.name}
        name="name"
        autocomplete="off"
        autoCapitalize="none"
        required
        value={name}
        onValue={setName}
      />
      <Input
        label={texts.lease.label}
        hint={texts.lease.hint}
        error={wrong.lease}
        name="lease"
        autocomplete="off"
        autoCapitalize="none"
        value={lease}
        onValue={setLease}
      />
      {profile.field}
      <p class="quiet">{make.effect}</p>
    </FormDialog>
  );
}
