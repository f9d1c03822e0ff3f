/** Users whose access ends within the next 30 days, soonest first: extended here, or let go. */

import { useState } from "preact/hooks";
import { PAGES, userPage } from "../../../../shared/product/pages.ts";
import { searchOf } from "../../../api.ts";
import { mayChange, maySee } from "../../../roles.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { dashboardTexts } from "../../../texts/admin/dashboard.ts";
import { userTexts } from "../../../texts/admin/user.ts";
import { Button } from "../../../ui/button.tsx";
import { endDay } from "../../../ui/clock.ts";
import { Time } from "../../../ui/time.tsx";
import { useDialog } from "../../../ui/use-dialog.ts";
import { Done, useDone } from "../done.tsx";
import { useRole } from "../for-role.tsx";
import { ChangeDialog } from "../user/change-dialog.tsx";
import type { UserRecord } from "../user/record.ts";
import { useAsPlanned } from "./as-planned.ts";
import { LetGoDialog } from "./let-go.tsx";

const { ends: texts } = dashboardTexts;

/** More are in the list of users. */
const SHOWN = 5;

export function Ends({ soon }: { readonly soon: readonly UserRecord[] }) {
  const role = useRole();
  const seesUsers = maySee(role, "users");
  const { isPlanned, plan } = useAsPlanned();
  const [showsAll, setShowsAll] = useState(false);
  const done = useDone();
  const { open, start, props } = useDialog<{ readonly how: "extend" | "let go"; readonly user: UserRecord }>(
    (...what) => {
      done.tell(...what);
      void forgetAnswers();
    },
  );
  // Whatever was tried: the user may be gone, or have another end by now.
  const onClose = () => {
    props.onClose();
    void forgetAnswers();
  };
  const planned = soon.filter(isPlanned).length;
  const shown = soon.filter((user) => showsAll || !isPlanned(user)).slice(0, SHOWN);
  if (soon.length === 0 && done.what === undefined && open === undefined) return null;
  const dialog = { ...props, onClose };
  return (
    <section class="card" aria-labelledby="ends">
      <h2 id="ends">{texts.title(soon.length)}</h2>
      <Done what={done.what} />
      <ul class="rows">
        {shown.map((user) => (
          <Row
            key={user.id}
            user={user}
            isLink={seesUsers}
            onStart={mayChange(role, "users") ? (how) => start({ how, user }) : undefined}
          />
        ))}
      </ul>
      {planned === 0 || showsAll ? null : (
        <p class="quiet">
          {texts.asPlanned(planned)} <Button onClick={() => setShowsAll(true)}>{texts.show}</Button>
        </p>
      )}
      <p class="quiet">
        {texts.hint}{" "}
        {seesUsers ? (
          <a href={`${PAGES.users}${searchOf({ status: "active", sort: "expire_at" })}`}>{texts.all}</a>
        ) : null}
      </p>
      {open?.how === "extend" ? <ChangeDialog kind="extend" user={open.user} {...dialog} /> : null}
      {open?.how === "let go" ? <LetGoDialog user={open.user} onPlanned={() => plan(open.user)} {...dialog} /> : null}
    </section>
  );
}

interface RowProps {
  readonly user: UserRecord;
  readonly isLink: boolean;
  /** Undefined for who may only look. */
  readonly onStart: ((how: "extend" | "let go") => void) | undefined;
}

function Row({ user: { id, username, expire_at: end }, isLink, onStart }: RowProps) {
  return (
    <li>
      <div>
        <strong>{isLink ? <a href={userPage(id)}>{username}</a> : username}</strong>
        <p class="hint">
          <Time at={end} />, {endDay(end)}
        </p>
      </div>
      {onStart === undefined ? null : (
        <div class="actions">
          <Button aria-label={texts.extendOf(username)} onClick={() => onStart("extend")}>
            {userTexts.actions.extend}
          </Button>
          <Button aria-label={texts.letGoOf(username)} onClick={() => onStart("let go")}>
            {texts.letGo}
          </Button>
        </div>
      )}
    </li>
  );
}
