/** One user: what holds, what ends when, and everything that can be done about it. */

import { useRoute } from "preact-iso";
import { ApiFailure } from "../../api.ts";
import { mayChange, maySee } from "../../roles.ts";
import { forgetAnswers, signedIn } from "../../signed-in.tsx";
import { userTexts } from "../../texts/admin/user.ts";
import { userHoursTexts } from "../../texts/hours/hours.ts";
import { networkTexts } from "../../texts/networks.ts";
import { profileTexts } from "../../texts/profiles/profiles.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { type DialogProps, useDialog } from "../../ui/use-dialog.ts";
import { Loaded, useApi } from "../../use-api.tsx";
import { ProfileDialog } from "../profiles/choice.tsx";
import { Done, useDone } from "./done.tsx";
import { forRole, ReadOnly, useRole } from "./for-role.tsx";
import { EndAccessDialog } from "./user/access.tsx";
import { ChangeDialog, type ChangeKind } from "./user/change-dialog.tsx";
import { DeleteDialog } from "./user/delete.tsx";
import { Diagnosis } from "./user/diagnosis.tsx";
import { EditDialog } from "./user/edit.tsx";
import { EndedDialog } from "./user/ended.tsx";
import { Facts } from "./user/facts.tsx";
import { FoundKeys } from "./user/found-keys.tsx";
import { UserHosts } from "./user/hosts.tsx";
import { Keys } from "./user/keys.tsx";
import { UserNetworks } from "./user/networks.tsx";
import type { UserRecord } from "./user/record.ts";
import { PendingRequest } from "./user/request.tsx";
import { Sessions } from "./user/sessions.tsx";
import { TimesDialog } from "./user/times.tsx";
import { Trail } from "./user/trail.tsx";
import { Untold } from "./user/untold.tsx";

export const User = signedIn("admin", forRole("users", UserPage));

/** Each user has a page of their own: nothing of the one before stays. */
function UserPage() {
  const id = Number(useRoute().params.id ?? 0);
  return <One key={id} id={id} />;
}

function One({ id }: { readonly id: number }) {
  const user = useApi("GET /users/:id", { params: { id } });
  const isGone = user.error instanceof ApiFailure && user.error.status === 404;
  const done = useDone();
  const role = useRole();
  /** Shows what was done, and everything anew: any of it may have changed. */
  function tell(...what: Parameters<DialogProps["onDone"]>) {
    done.tell(...what);
    void forgetAnswers();
  }
  const name = user.data?.username;
  const title = isGone ? userTexts.gone.title(id, name) : (name ?? userTexts.title);
  return (
    <Page title={title}>
      <ReadOnly area="users" />
      <Done what={done.what} />
      {isGone ? (
        <p>
          {name !== undefined
            ? userTexts.gone.deleted
            : maySee(role, "audit")
              ? userTexts.gone.textWithTrail
              : userTexts.gone.text}
        </p>
      ) : (
        <Loaded query={user}>
          {(data) => (
            <div class="stack">
              <PendingRequest user={data} />
              <Untold user={data} onDone={tell} />
              <Overview user={data} onDone={tell} />
              <Diagnosis user={data} />
              <UserHosts user={data} onDone={tell} />
              <Keys user={data} onDone={tell} />
              <FoundKeys user={data} onDone={tell} />
              <Sessions user={data} onDone={tell} />
            </div>
          )}
        </Loaded>
      )}
      {maySee(role, "audit") ? <Trail id={id} /> : null}
    </Page>
  );
}

interface OverviewProps {
  readonly user: UserRecord;
  readonly onDone: DialogProps["onDone"];
}

function Overview({ user, onDone }: OverviewProps) {
  const { actions } = userTexts;
  const isAllowed = mayChange(useRole(), "users");
  const profiles = useApi("GET /profiles");
  const { open, start, props } = useDialog<
    ChangeKind | "edit" | "profile" | "networks" | "times" | "access" | "delete"
  >(onDone);
  const dialog = { user, ...props };
  return (
    <section class="card" aria-label={userTexts.facts.label}>
      <Facts user={user} />
      {isAllowed ? (
        <div class="actions">
          <Button kind="primary" onClick={() => start("extend")}>
            {actions.extend}
          </Button>
          <Button onClick={() => start("edit")}>{actions.edit}</Button>
          <Button onClick={() => start("networks")}>{networkTexts.button}</Button>
          <Button onClick={() => start("times")}>{userHoursTexts.open}</Button>
          {profiles.data?.items.length ? (
            <Button onClick={() => start("profile")}>{profileTexts.choice.open}</Button>
          ) : null}
          {user.on_request !== null && user.status === "active" ? (
            <Button kind="danger" onClick={() => start("access")}>
              {userHoursTexts.endAccess.open}
            </Button>
          ) : null}
          {user.status === "disabled" ? <Button onClick={() => start("enable")}>{actions.enable}</Button> : null}
          {user.status !== "disabled" ? (
            <Button kind="danger" onClick={() => start("disable")}>
              {actions.disable}
            </Button>
          ) : null}
          <Button kind="danger" onClick={() => start("delete")}>
            {actions.remove}
          </Button>
        </div>
      ) : null}
      {open === "disable" && user.status === "expired" ? (
        <EndedDialog user={user} onClose={props.onClose} onDelete={() => start("delete")} />
      ) : open === "extend" || open === "enable" || open === "disable" ? (
        <ChangeDialog {...dialog} kind={open} />
      ) : null}
      {open === "edit" ? <EditDialog {...dialog} /> : null}
      {open === "networks" ? <UserNetworks {...dialog} /> : null}
      {open === "times" ? <TimesDialog {...dialog} /> : null}
      {open === "profile" ? <ProfileDialog {...dialog} /> : null}
      {open === "access" ? <EndAccessDialog {...dialog} /> : null}
      {open === "delete" ? <DeleteDialog {...dialog} /> : null}
    </section>
  );
}
