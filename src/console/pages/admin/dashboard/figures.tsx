/** How many there are of what, and how it goes. */

import type { UseQueryResult } from "@tanstack/preact-query";
import { PAGES } from "../../../../shared/product/pages.ts";
import { HOST_STATUSES } from "../../../../shared/product/statuses.ts";
import { type AnswerOf, searchOf } from "../../../api.ts";
import { mayChange, maySee } from "../../../roles.ts";
import { dashboardTexts } from "../../../texts/admin/dashboard.ts";
import { number } from "../../../texts/language.ts";
import { DAY, now } from "../../../ui/clock.ts";
import { Loaded, useApi, WATCHED } from "../../../use-api.tsx";
import { auditHref } from "../audit/filter.ts";
import { useRole } from "../for-role.tsx";
import { Charts } from "./charts.tsx";

const { counters, hosts, problems } = dashboardTexts;

type Stats = AnswerOf<"GET /admin/stats">;

export function Figures({ stats }: { readonly stats: UseQueryResult<Stats, Error> }) {
  const role = useRole();
  return (
    <section class="stack figures" aria-labelledby="figures">
      <h2 id="figures">{dashboardTexts.figures}</h2>
      <Loaded query={stats}>{(figures) => <Counters figures={figures} />}</Loaded>
      {maySee(role, "hosts") ? <Hosts /> : null}
      {maySee(role, "audit") ? <Repairs /> : null}
      <Charts />
    </section>
  );
}

function Counters({ figures }: { readonly figures: Stats }) {
  const seesUsers = maySee(useRole(), "users");
  const users = (status?: string) => (seesUsers ? `${PAGES.users}${searchOf({ status })}` : undefined);
  return (
    <ul class="counters" aria-label={counters.title}>
      <Counter value={number(figures.active)} name={counters.active} href={users("active")} />
      {seesUsers ? <OpenNow active={figures.active} /> : null}
      <Counter value={number(figures.disabled)} name={counters.disabled} href={users("disabled")} />
      <Counter value={number(figures.expired)} name={counters.expired} href={users("expired")} />
      <Counter value={number(figures.total)} name={counters.total} href={users()} />
    </ul>
  );
}

/** Who gets in at this moment, within their hours and what they were allowed; nothing where that is whoever is active. */
function OpenNow({ active }: { readonly active: number }) {
  const { data } = useApi("GET /users", { query: OPEN }, WATCHED);
  if (data === undefined || data.total === active) return null;
  const href = `${PAGES.users}${searchOf({ access: "open" })}`;
  return <Counter value={number(data.total)} name={counters.open} href={href} />;
}

const OPEN = { access: "open", page_size: "1" } as const;

interface CounterProps {
  readonly value: string;
  readonly name: string;
  /** Undefined for who may not see what is counted. */
  readonly href: string | undefined;
}

function Counter({ value, name, href }: CounterProps) {
  const content = (
    <>
      <strong>{value}</strong> <span>{name}</span>
    </>
  );
  return (
    <li>
      {href === undefined ? (
        <div class="counter">{content}</div>
      ) : (
        <a class="counter" href={href}>
          {content}
        </a>
      )}
    </li>
  );
}

/** Several hosts by their state; for a single one a way to add the next, for who may. */
function Hosts() {
  const { data } = useApi("GET /hosts", { query: { page_size: "1" } }, WATCHED);
  const role = useRole();
  if (data === undefined) return null;
  if (data.total > 1) {
    return (
      <ul class="counters" aria-label={hosts.title}>
        {HOST_COUNTS.map((status) => (
          <HostCount key={status} status={status} />
        ))}
      </ul>
    );
  }
  return mayChange(role, "hosts") ? (
    <p class="quiet">
      <a href={PAGES.hosts}>{hosts.first}</a>
    </p>
  ) : null;
}

const HOST_COUNTS = ["", ...HOST_STATUSES] as const;

function HostCount({ status }: { readonly status: (typeof HOST_COUNTS)[number] }) {
  const { data } = useApi("GET /hosts", { query: { ...(status === "" ? {} : { status }), page_size: "1" } }, WATCHED);
  return (
    <Counter
      value={data === undefined ? "…" : number(data.total)}
      name={status === "" ? hosts.total : hosts.states[status]}
      href={`${PAGES.hosts}${searchOf({ status })}`}
    />
  );
}

const HOUR = DAY / 24;

/** How often an account was found different from what is stored, and put back; nothing if none was. */
function Repairs() {
  // Whole hours, so that what was asked is still known a moment later.
  const since = new Date(Math.floor(now() / HOUR) * HOUR - 7 * DAY).toISOString();
  const { data } = useApi("GET /audit", { query: { action: "reconcile.repair", since, page_size: "1" } });
  if (data === undefined || data.total === 0) return null;
  return (
    <p>
      {problems.repairs(data.total)}{" "}
      <a href={auditHref({ action: "reconcile.repair", since })}>{problems.repairsLink}</a>
    </p>
  );
}
