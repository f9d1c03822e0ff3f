/** Requests that wait for a decision, the oldest first: decided here. */

import { PAGES } from "../../../../shared/product/pages.ts";
import { type AnswerOf, searchOf } from "../../../api.ts";
import { mayChange } from "../../../roles.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { applicationTexts } from "../../../texts/admin/applications.ts";
import { dashboardTexts } from "../../../texts/admin/dashboard.ts";
import { Button } from "../../../ui/button.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { useDialog } from "../../../ui/use-dialog.ts";
import type { Application } from "../applications/application.ts";
import { ApproveDialog, RejectDialog } from "../applications/decide.tsx";
import { Done, useDone } from "../done.tsx";
import { useRole } from "../for-role.tsx";

const { requests: texts } = dashboardTexts;

/** The first of them. */
export const OLDEST = { query: { status: "pending", sort: "created_at", page_size: "5" } } as const;

export function Requests({ waiting: { total, items } }: { readonly waiting: AnswerOf<"GET /approvals"> }) {
  const done = useDone();
  const mayDecide = mayChange(useRole(), "applications");
  const { open, start, props } = useDialog<{ readonly how: "approve" | "reject"; readonly application: Application }>(
    done.tell,
  );
  // The dialog stays at work until the list no longer has what was decided.
  const dialog = {
    onClose: props.onClose,
    onDone: async (sentence: string) => {
      await forgetAnswers();
      props.onDone(sentence);
    },
  };
  if (total === 0 && done.what === undefined && open === undefined) return null;
  return (
    <section class="card deciding" aria-labelledby="requests">
      <h2 id="requests">{texts.title(total)}</h2>
      <Done what={done.what} />
      <ul class="rows">
        {items.map((application) => (
          <Row
            key={application.id}
            application={application}
            onDecide={mayDecide ? (how) => start({ how, application }) : undefined}
          />
        ))}
      </ul>
      {total === 0 ? null : (
        <p class="quiet">
          {total > items.length ? `${texts.more(total - items.length)}. ` : null}
          <a href={`${PAGES.applications}${searchOf({ status: "pending" })}`}>{texts.all}</a>
        </p>
      )}
      {open?.how === "approve" ? <ApproveDialog application={open.application} {...dialog} /> : null}
      {open?.how === "reject" ? <RejectDialog application={open.application} {...dialog} /> : null}
    </section>
  );
}

interface RowProps {
  readonly application: Application;
  /** Undefined for who may only look. */
  readonly onDecide: ((how: "approve" | "reject") => void) | undefined;
}

function Row({ application, onDecide }: RowProps) {
  const { username, kind, days, purpose, supervisor, created_at: at } = application;
  const { card } = applicationTexts;
  return (
    <li>
      <div>
        <p>
          <strong>
            <bdi class="typed">{username}</bdi>
          </strong>{" "}
          {kind === "extension" ? texts.extension(days) : texts.access}{" "}
          <span class="quiet">
            · <Time at={at} />
          </span>
        </p>
        {purpose === "" ? null : (
          <p class="hint">
            <Typed text={purpose} most={140} />
          </p>
        )}
        {supervisor === "" ? null : <p class="hint">{texts.for(supervisor)}</p>}
      </div>
      {onDecide === undefined ? null : (
        <div class="actions">
          <Button kind="primary" aria-label={card.approveOf(username)} onClick={() => onDecide("approve")}>
            {card.approve}
          </Button>
          <Button aria-label={card.rejectOf(username)} onClick={() => onDecide("reject")}>
            {card.reject}
          </Button>
        </div>
      )}
    </li>
  );
}
