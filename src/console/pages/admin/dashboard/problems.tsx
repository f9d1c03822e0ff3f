/** Problems on the host: access that is not yet taken away, and repairs. */

import { PAGES, userPage } from "../../../../shared/product/pages.ts";
import { HOST_STATUSES } from "../../../../shared/product/statuses.ts";
import { type AnswerOf, searchOf } from "../../../api.ts";
import { mayChange, maySee } from "../../../roles.ts";
import { dashboardTexts } from "../../../texts/admin/dashboard.ts";
import { number } from "../../../texts/language.ts";
import { DAY, now } from "../../../ui/clock.ts";
import { Copyable } from "../../../ui/copy.tsx";
import { isolated } from "../../../ui/isolated.ts";
import { Notice } from "../../../ui/notice.tsx";
import { Section } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { Typed } from "../../../ui/typed.tsx";
import { Loaded, useApi, WATCHED } from "../../../use-api.tsx";
import { auditHref } from "../audit/filter.ts";
import { useRole } from "../for-role.tsx";

const { problems: texts, hosts } = dashboardTexts;

const SHOWN = 10;

function useProblems() {
  return useApi("GET /admin/problems", { query: { page_size: String(SHOWN) } }, WATCHED);
}

/** Access that is not yet taken away; nothing is shown while there is none. */
export function Problems() {
  const { data } = useProblems();
  if (data === undefined || data.total === 0) return null;
  const { total, items } = data;
  return (
    <Notice kind="bad" title={texts.some(total)}>
      <ul>
        {items.map((problem) => (
          <Problem key={problem.id} problem={problem} />
        ))}
      </ul>
      {total > items.length ? <p>{texts.more(total - items.length)}</p> : null}
      <p>{texts.text}</p>
      <Copyable text="uam reconcile" label={texts.command} />
    </Notice>
  );
}

/** Receivers of audit records that have been away for long; nothing is shown while there is none. */
export function ReceiversAway() {
  const { data } = useProblems();
  const sees = maySee(useRole(), "webhooks");
  if (data === undefined || data.receivers.length === 0) return null;
  return (
    <Notice kind="warn" title={texts.receivers(data.receivers.length)}>
      <ul>
        {data.receivers.map(({ kind, id, name, since, problem }) => (
          <li key={`${kind}${id}`}>
            <Typed text={name} />
            {": "}
            <Typed text={`${problem}.`} />{" "}
            {since === null ? null : (
              <span class="quiet">
                {texts.since} <Time at={since} />.
              </span>
            )}
          </li>
        ))}
      </ul>
      <p>
        {texts.waits} {sees ? <a href={PAGES.webhooks}>{texts.webhooks}</a> : null}
      </p>
    </Notice>
  );
}

/** Problems of any of several hosts; nothing is shown if there are none. */
export function HostProblems() {
  const { data } = useProblems();
  const seesHosts = maySee(useRole(), "hosts");
  if (data?.hosts === undefined || data.hosts.total === 0) return null;
  const { total, items } = data.hosts;
  const shown = items.slice(0, SHOWN);
  return (
    <Notice kind="warn" title={hosts.some(total)}>
      <ul>
        {shown.map(({ host, account, kind, text, since }) => (
          <li key={`${host} ${account} ${kind} ${text}`}>
            <strong>{seesHosts ? <a href={`${PAGES.hosts}${searchOf({ q: host })}`}>{host}</a> : host}</strong>
            {account === "" ? "" : `, ${isolated(account)}`}: <Typed text={text.replace(/\.?$/, ".")} />{" "}
            <span class="quiet">
              {texts.since} <Time at={since} />.
            </span>
          </li>
        ))}
      </ul>
      {total > shown.length ? <p>{hosts.more(total - shown.length)}</p> : null}
      {seesHosts ? <a href={PAGES.hosts}>{hosts.all}</a> : null}
    </Notice>
  );
}

/** Several hosts by their state; for a single one a way to add the next, for who may. */
export function HostCounts() {
  const { data } = useProblems();
  const role = useRole();
  if (data === undefined || !maySee(role, "hosts")) return null;
  if (data.hosts !== undefined) return <Counts />;
  return mayChange(role, "hosts") ? (
    <p class="quiet">
      <a href={PAGES.hosts}>{hosts.first}</a>
    </p>
  ) : null;
}

const STATES = ["", ...HOST_STATUSES] as const;

function Counts() {
  return (
    <ul class="counters" aria-label={hosts.title}>
      {STATES.map((status) => (
        <Count key={status} status={status} />
      ))}
    </ul>
  );
}

function Count({ status }: { readonly status: (typeof STATES)[number] }) {
  const { data } = useApi("GET /hosts", { query: { ...(status === "" ? {} : { status }), page_size: "1" } }, WATCHED);
  return (
    <li>
      <a class="counter" href={`${PAGES.hosts}${searchOf({ status })}`}>
        <strong>{data === undefined ? "…" : number(data.total)}</strong>{" "}
        <span>{status === "" ? hosts.total : hosts.states[status]}</span>
      </a>
    </li>
  );
}

/** How it stands with the host as a whole, and where to look. */
export function HostState() {
  const answer = useProblems();
  return (
    <Section title={texts.title}>
      <Loaded query={answer}>{({ total }) => <p>{total === 0 ? texts.none : texts.above}</p>}</Loaded>
      <HostCounts />
      {maySee(useRole(), "audit") ? <Repairs /> : null}
      <p>{texts.doctor}</p>
      <Copyable text="uam doctor" label={texts.doctorLabel} />
    </Section>
  );
}

type Owed = AnswerOf<"GET /admin/problems">["items"][number];

function Problem({ problem }: { readonly problem: Owed }) {
  const { user_id, username, kind, since, attempts, next_attempt_at, problem: sentence } = problem;
  const seesUsers = maySee(useRole(), "users");
  return (
    <li>
      <strong>
        {username === "" ? texts.deleted(user_id) : seesUsers ? <a href={userPage(user_id)}>{username}</a> : username}
      </strong>
      {": "}
      {texts.what(texts.kinds[kind])}. {sentence === "" ? texts.underWay : <Typed text={`${sentence}.`} />}{" "}
      <span class="quiet">
        {texts.since} <Time at={since} />
        {attempts === 0 ? null : `, ${texts.tried(attempts)}`}. {texts.next} <Time at={next_attempt_at} />.
      </span>
    </li>
  );
}

const HOUR = DAY / 24;

/** How often an account was found different from what is stored, and put back. */
function Repairs() {
  // Whole hours, so that what was asked is still known a moment later.
  const since = new Date(Math.floor(now() / HOUR) * HOUR - 7 * DAY).toISOString();
  const answer = useApi("GET /audit", { query: { action: "reconcile.repair", since, page_size: "1" } });
  return (
    <Loaded query={answer}>
      {({ total }) => (
        <p>
          {texts.repairs(total)}{" "}
          {total === 0 ? null : <a href={auditHref({ action: "reconcile.repair", since })}>{texts.repairsLink}</a>}
        </p>
      )}
    </Loaded>
  );
}
