/** One group of hosts: its hosts, who has it, and for owners everything that can be done about it. */

import { useLocation, useRoute } from "preact-iso";
import { PAGES } from "../../../shared/product/pages.ts";
import { ApiFailure } from "../../api.ts";
import { mayChange } from "../../roles.ts";
import { forgetAnswers, signedIn } from "../../signed-in.tsx";
import { groupTexts as texts } from "../../texts/hosts/host-groups.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import { useDialog } from "../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../use-api.tsx";
import { Done, useDone } from "../admin/done.tsx";
import { forRole, ReadOnly, useRole } from "../admin/for-role.tsx";
import { hoursText } from "../hours/hours-field.tsx";
import { ProfileFact } from "../profiles/choice.tsx";
import { AddToGroup, ChangeGroup, DeleteGroup } from "./group-changes.tsx";
import { type Group, GroupLease } from "./host-groups.tsx";
import { Members } from "./members.tsx";

export const HostGroup = signedIn("admin", forRole("hosts", HostGroupPage));

/** Each group has a page of its own: nothing of the one before stays. */
function HostGroupPage() {
  const id = Number(useRoute().params.id ?? 0);
  return <One key={id} id={id} />;
}

function One({ id }: { readonly id: number }) {
  const group = useApi("GET /host-groups/:id", { params: { id } });
  const isGone = group.error instanceof ApiFailure && group.error.status === 404;
  const done = useDone();
  function tell(sentence: string) {
    done.tell(sentence);
    void forgetAnswers();
  }
  const back = (
    <a class="button" href={PAGES.hostGroups}>
      {texts.remove.back}
    </a>
  );
  return (
    <Page title={isGone ? texts.gone.title(id) : (group.data?.name ?? texts.one)} actions={back}>
      <ReadOnly area="hosts" />
      <Done what={done.what} />
      {isGone ? (
        <p>{texts.gone.text}</p>
      ) : (
        <Loaded query={group}>
          {(data) => (
            <div class="stack">
              <Overview group={data} onDone={tell} />
              <Members group={data} onDone={tell} />
            </div>
          )}
        </Loaded>
      )}
    </Page>
  );
}

interface OverviewProps {
  readonly group: Group;
  readonly onDone: (sentence: string) => void;
}

function Overview({ group, onDone }: OverviewProps) {
  const { facts, actions } = texts;
  const { route } = useLocation();
  const isOwner = mayChange(useRole(), "hosts");
  const { open, start, props } = useDialog<"add" | "change" | "remove">(onDone);
  const dialog = { group, ...props };
  return (
    <section class="card" aria-label={facts.label}>
      <dl class="facts">
        <dt>{facts.users}</dt>
        <dd>{facts.usersText(group.users)}</dd>
        <dt>{facts.fresh}</dt>
        <dd>{group.for_new_users ? facts.freshYes : facts.freshNo}</dd>
        <dt>{facts.lease}</dt>
        <dd>{group.lease === null ? <span class="quiet">{facts.usual}</span> : <GroupLease lease={group.lease} />}</dd>
        <dt>{texts.hours.label}</dt>
        <dd>{hoursText(group.hours) || <span class="quiet">{texts.hours.none}</span>}</dd>
        <ProfileFact name={group.profile} />
        <dt>{facts.created}</dt>
        <dd>
          <Time at={group.created_at} both />
        </dd>
      </dl>
      {isOwner ? (
        <div class="actions">
          <Button kind="primary" onClick={() => start("add")}>
            {actions.add}
          </Button>
          <Button onClick={() => start("change")}>{actions.change}</Button>
          <Button kind="danger" onClick={() => start("remove")}>
            {actions.remove}
          </Button>
        </div>
      ) : null}
      {open === "add" ? <AddToGroup {...dialog} /> : null}
      {open === "change" ? <ChangeGroup {...dialog} /> : null}
      {open === "remove" ? <DeleteGroup {...dialog} onDone={() => route(PAGES.hostGroups)} /> : null}
    </section>
  );
}
