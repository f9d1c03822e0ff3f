/** One application: who asks, for what, why, and what became of it. */

import type { ComponentChildren } from "preact";
import { userPage } from "../../../../shared/product/pages.ts";
import { hostAccountOf } from "../../../../shared/text/account-name.ts";
import { maySee } from "../../../roles.ts";
import { applicationTexts } from "../../../texts/admin/applications.ts";
import { common } from "../../../texts/common.ts";
import { Button } from "../../../ui/button.tsx";
import { Status } from "../../../ui/status.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { useRole } from "../for-role.tsx";
import { type Application, cardId } from "./application.ts";

interface CardProps {
  readonly application: Application;
  /** What is said above it. */
  readonly above: ComponentChildren;
  /** Whether the keys are about this one. */
  readonly isCurrent: boolean;
  readonly onCurrent: () => void;
  /** How many of the list ask for this name. */
  readonly sameName: number;
  /** Undefined where there is nothing to decide, or not by this role. */
  readonly onDecide: ((how: "approve" | "reject") => void) | undefined;
  /** Undefined where nobody is to be created after all, or not by this role. */
  readonly onCreate: (() => void) | undefined;
}

export function ApplicationCard({ application, above, isCurrent, onCurrent, sameName, ...on }: CardProps) {
  const { id, username, status } = application;
  const { card } = applicationTexts;
  const { onDecide, onCreate } = on;
  return (
    <li class="stack tight">
      {above}
      <article
        id={cardId(id)}
        class="card application"
        tabIndex={isCurrent ? 0 : -1}
        aria-labelledby={`${cardId(id)}-title`}
        onFocusIn={onCurrent}
      >
        <header class="actions">
          <h2 id={`${cardId(id)}-title`}>{titleOf(application)}</h2>
          <Status value={status} />
        </header>
        {sameName > 1 ? <p class="warned">{card.sameName(username, sameName)}</p> : null}
        <Facts application={application} />
        {onDecide === undefined ? null : (
          <div class="actions">
            <Button kind="primary" aria-label={card.approveOf(username)} onClick={() => onDecide("approve")}>
              {card.approve}
            </Button>
            <Button kind="danger" aria-label={card.rejectOf(username)} onClick={() => onDecide("reject")}>
              {card.reject}
            </Button>
          </div>
        )}
        {onCreate === undefined ? null : (
          <div class="actions">
            <span>{card.mistake}</span>
            <Button aria-label={card.createOf(username)} onClick={onCreate}>
              {card.create}
            </Button>
          </div>
        )}
      </article>
    </li>
  );
}

function titleOf({ username, days, hours, hosts }: Application): string {
  const { card } = applicationTexts;
  if (days !== null) return card.extension(username, days);
  return hours !== null ? card.request(username, hours, hosts ?? []) : card.access(username);
}

/** The hours that an applicant wishes for, in their words. */
function Wish({ text }: { readonly text: string }) {
  const { card } = applicationTexts;
  if (text === "") return null;
  return (
    <>
      <dt>{card.hoursWish}</dt>
      <dd>
        <Typed text={text} />
      </dd>
    </>
  );
}

function Facts({ application }: { readonly application: Application }) {
  const { kind, user_id, username, email, full_name, supervisor, purpose, sponsor_email: sponsor } = application;
  const { status, reason, reviewed_by, reviewed_at, created_at } = application;
  const { card } = applicationTexts;
  const seesUsers = maySee(useRole(), "users");
  return (
    <dl class="facts">
      <dt>{card.asked}</dt>
      <dd>
        <Time at={created_at} both />
      </dd>
      {full_name === "" ? null : (
        <>
          <dt>{card.fullName}</dt>
          <dd>
            <Typed text={full_name} />
          </dd>
        </>
      )}
      <dt>{kind === "access" ? card.purpose : card.why}</dt>
      <dd>{purpose === "" ? <span class="quiet">{card.nothing}</span> : <Typed text={purpose} />}</dd>
      <Wish text={application.hours_wish} />
      <dt>{card.supervisor}</dt>
      <dd>{supervisor === "" ? <span class="quiet">{card.nothing}</span> : <Typed text={supervisor} />}</dd>
      {sponsor === "" ? null : (
        <>
          <dt>{card.sponsor}</dt>
          <dd>
            <bdi>{sponsor}</bdi>: {card.answers[application.sponsor_answer]}{" "}
            {application.sponsor_reason === "" ? null : <Typed text={application.sponsor_reason} />}
          </dd>
        </>
      )}
      <dt>{card.email}</dt>
      <dd>
        <bdi>{email}</bdi>
      </dd>
      <dt>{card.account}</dt>
      <dd>
        {user_id !== null && seesUsers ? (
          <a href={userPage(user_id)}>{hostAccountOf(username)}</a>
        ) : (
          hostAccountOf(username)
        )}
      </dd>
      {status === "pending" ? null : (
        <>
          <dt>{common.status[status]}</dt>
          <dd>
            {reviewed_at === null ? null : <Time at={reviewed_at} both />} {card.by} <bdi>{reviewed_by}</bdi>
          </dd>
          {reason === "" ? null : (
            <>
              <dt>{card.reason}</dt>
              <dd>
                <Typed text={reason} />
              </dd>
            </>
          )}
        </>
      )}
    </dl>
  );
}
