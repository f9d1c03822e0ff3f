/** The dashboard: what needs a decision, what ends soon, what is wrong on the host, and how it all goes. */

import { PAGES } from "../../../shared/product/pages.ts";
import { type AnswerOf, searchOf } from "../../api.ts";
import { maySee } from "../../roles.ts";
import { signedIn } from "../../signed-in.tsx";
import { dashboardTexts } from "../../texts/admin/dashboard.ts";
import { number } from "../../texts/language.ts";
import { Page } from "../../ui/page.tsx";
import { Loaded, useApi, WATCHED } from "../../use-api.tsx";
import { Charts } from "./dashboard/charts.tsx";
import { Decisions } from "./dashboard/decisions.tsx";
import { EndsSoon } from "./dashboard/ends-soon.tsx";
import { HostProblems, HostState, Problems, ReceiversAway } from "./dashboard/problems.tsx";
import { useRole } from "./for-role.tsx";

export const Dashboard = signedIn("admin", () => {
  const stats = useApi("GET /admin/stats", {}, WATCHED);
  return (
    <Page title={dashboardTexts.title}>
      <Loaded query={stats}>{(figures) => <Counters figures={figures} />}</Loaded>
      <Problems />
      <ReceiversAway />
      <HostProblems />
      <div class="columns">
        <Decisions />
        <EndsSoon stats={stats} />
        <HostState />
      </div>
      <Charts />
    </Page>
  );
});

type Stats = AnswerOf<"GET /admin/stats">;

function Counters({ figures }: { readonly figures: Stats }) {
  const { counters } = dashboardTexts;
  const seesUsers = maySee(useRole(), "users");
  const users = (status?: string) => (seesUsers ? `${PAGES.users}${searchOf({ status })}` : undefined);
  return (
    <ul class="counters" aria-label={counters.title}>
      <Counter
        value={figures.pending_approvals}
        name={counters.pending}
        href={`${PAGES.applications}${searchOf({ status: "pending" })}`}
      />
      <Counter value={figures.active} name={counters.active} href={users("active")} />
      <Counter value={figures.disabled} name={counters.disabled} href={users("disabled")} />
      <Counter value={figures.expired} name={counters.expired} href={users("expired")} />
      <Counter value={figures.total} name={counters.total} href={users()} />
    </ul>
  );
}

interface CounterProps {
  readonly value: number;
  readonly name: string;
  /** Undefined for who may not see what is counted. */
  readonly href: string | undefined;
}

function Counter({ value, name, href }: CounterProps) {
  const content = (
    <>
      <strong>{number(value)}</strong> <span>{name}</span>
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
