/** One host: how it stands, what is wrong with it, who is there, and for owners everything that can be done about it. */

import { useRoute } from "preact-iso";
import { ApiFailure } from "../../api.ts";
import { mayChange } from "../../roles.ts";
import { forgetAnswers, signedIn } from "../../signed-in.tsx";
import { oneHostTexts as texts } from "../../texts/hosts/host.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { useDialog } from "../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../use-api.tsx";
import { Done, useDone } from "../admin/done.tsx";
import { forRole, ReadOnly, useRole } from "../admin/for-role.tsx";
import { ChangeHost } from "./change-host.tsx";
import { HostFacts } from "./host-facts.tsx";
import { LockHost } from "./lock-host.tsx";
import { People } from "./people.tsx";
import { HostProblems } from "./problems.tsx";
import { HostProfiles } from "./profiles.tsx";
import { RetireHost } from "./retire-host.tsx";
import type { HostDetail } from "./state.ts";

/** While somebody looks, it is asked for again after so many milliseconds. */
const WATCHED = 10_000;

export const Host = signedIn("admin", forRole("hosts", HostPage));

/** Each host has a page of its own: nothing of the one before stays. */
function HostPage() {
  const id = Number(useRoute().params.id ?? 0);
  return <One key={id} id={id} />;
}

function One({ id }: { readonly id: number }) {
  const host = useApi("GET /hosts/:id", { params: { id } }, WATCHED);
  const isGone = host.error instanceof ApiFailure && host.error.status === 404;
  const done = useDone();
  function tell(sentence: string) {
    done.tell(sentence);
    void forgetAnswers();
  }
  const name = host.data?.name;
  return (
    <Page title={isGone ? texts.gone.title(id) : (name ?? texts.title)}>
      <ReadOnly area="hosts" />
      <Done what={done.what} />
      {isGone ? (
        <p>{texts.gone.text}</p>
      ) : (
        <Loaded query={host}>
          {(data) => (
            <div class="stack">
              <Overview host={data} onDone={tell} />
              <HostProblems host={data} />
              <HostProfiles host={data} />
              <People host={data} />
            </div>
          )}
        </Loaded>
      )}
    </Page>
  );
}

interface OverviewProps {
  readonly host: HostDetail;
  readonly onDone: (sentence: string) => void;
}

function Overview({ host, onDone }: OverviewProps) {
  const { actions } = texts;
  const isOwner = mayChange(useRole(), "hosts");
  const { open, start, props } = useDialog<"change" | "lock" | "retire">(onDone);
  const dialog = { host, ...props };
  return (
    <section class="card" aria-label={texts.facts.label}>
      <HostFacts host={host} />
      {isOwner && host.kind === "remote" ? (
        <div class="actions">
          <Button onClick={() => start("change")}>{actions.change}</Button>
          {host.status === "retiring" ? null : (
            <Button kind={host.status === "locked" ? "plain" : "danger"} onClick={() => start("lock")}>
              {host.status === "locked" ? actions.unlock : actions.lock}
            </Button>
          )}
          <Button kind="danger" onClick={() => start("retire")}>
            {actions.retire}
          </Button>
        </div>
      ) : null}
      {open === "change" ? <ChangeHost {...dialog} /> : null}
      {open === "lock" ? <LockHost {...dialog} /> : null}
      {open === "retire" ? <RetireHost {...dialog} /> : null}
    </section>
  );
}
