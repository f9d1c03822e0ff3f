/** The charts of the dashboard, each with its figures as a table. */

import type { AnswerOf } from "../../../api.ts";
import { BarMark, Bars } from "../../../charts/bars.tsx";
import { Chart } from "../../../charts/chart.tsx";
import { LineMark, Lines } from "../../../charts/lines.tsx";
import { byWeek, dayName } from "../../../charts/series.ts";
import { maySee } from "../../../roles.ts";
import { dashboardTexts } from "../../../texts/admin/dashboard.ts";
import { number } from "../../../texts/language.ts";
import { Loaded, useApi } from "../../../use-api.tsx";
import { auditHref } from "../audit/filter.ts";
import { useRole } from "../for-role.tsx";

const { charts: texts } = dashboardTexts;

type Series = AnswerOf<"GET /admin/stats/series">;

export function Charts() {
  const answer = useApi("GET /admin/stats/series", { query: { days: "90" } });
  return (
    <Loaded query={answer}>
      {({ states, ends, changes }) => (
        <div class="columns charts">
          <States states={states} />
          <Ends ends={ends} />
          <Changes changes={changes} />
        </div>
      )}
    </Loaded>
  );
}

const STATES = ["active", "disabled", "expired"] as const;
const CHANGES = ["changes", "failed"] as const;

function States({ states }: Pick<Series, "states">) {
  const { states: words } = texts;
  const [first, last] = [states[0], states.at(-1)];
  const summary =
    first === undefined || last === undefined
      ? words.none
      : `${words.summary(dayName(last.date), last.active, last.disabled, last.expired)} ${words.from(dayName(first.date))}`;
  return (
    <Chart
      caption={words.caption}
      summary={summary}
      legend={STATES.map(
        (name, index) => [<LineMark key={name} name={name} index={index} />, words.series[name]] as const,
      )}
      values={states.flatMap((day) => STATES.map((name) => day[name]))}
      table={{
        label: texts.asTable,
        items: states.map((day) => ({ ...day, id: day.date })).reverse(),
        columns: [
          dayColumn(texts.day),
          ...STATES.map((name) => figure(words.series[name], (day: Figures) => day[name])),
        ],
      }}
    >
      {(plot) => (
        <Lines
          plot={plot}
          days={states}
          series={STATES}
          tip={(day) =>
            texts.tip(
              dayName(day.date),
              STATES.map((name) => texts.part(words.series[name], day[name])),
            )
          }
        />
      )}
    </Chart>
  );
}

type Figures = Series["states"][number] & { readonly id: string };

function Ends({ ends }: Pick<Series, "ends">) {
  const { ends: words } = texts;
  const weeks = byWeek(ends.map(({ date, users }) => ({ date, value: users })));
  const total = weeks.reduce((sum, { value }) => sum + value, 0);
  const most = weeks.reduce(
    (best, week) => (week.value > best.value ? week : best),
    weeks[0] ?? { date: "", value: 0 },
  );
  return (
    <Chart
      caption={words.caption}
      summary={words.summary(total, most.value, total === 0 ? "" : dayName(most.date))}
      values={weeks.map(({ value }) => value)}
      table={{
        label: texts.asTable,
        items: weeks.map((week) => ({ ...week, id: week.date })),
        columns: [dayColumn(texts.week), figure(words.users, ({ value }: { readonly value: number }) => value)],
      }}
    >
      {(plot) => (
        <Bars
          plot={plot}
          bars={weeks.map(({ date, value }) => ({ date, values: { users: value } }))}
          series={["users"]}
          tip={({ date, values }) => texts.tip(dayName(date), [texts.part(words.users, values.users)])}
        />
      )}
    </Chart>
  );
}

type Day = Series["changes"][number];

function Changes({ changes }: Pick<Series, "changes">) {
  const { changes: words } = texts;
  const mayRead = maySee(useRole(), "audit");
  // Days are counted in UTC.
  const failedHref = (first = "", last = "") =>
    auditHref({ result: "failed", since: `${first}T00:00:00.000Z`, until: `${last}T23:59:59.999Z` });
  const sum = (name: (typeof CHANGES)[number]) => changes.reduce((total, day) => total + day[name], 0);
  const parts = (values: Readonly<Record<(typeof CHANGES)[number], number>>) =>
    CHANGES.map((name) => texts.part(words.series[name], values[name]));
  return (
    <Chart
      caption={words.caption}
      summary={changes.length === 0 ? words.none : words.summary(sum("changes"), sum("failed"))}
      more={
        mayRead && sum("failed") > 0 ? (
          <a href={failedHref(changes[0]?.date, changes.at(-1)?.date)}>{words.show}</a>
        ) : null
      }
      legend={CHANGES.map((name) => [<BarMark key={name} name={name} />, words.series[name]] as const)}
      values={changes.map((day) => day.changes + day.failed)}
      table={{
        label: texts.asTable,
        items: changes.map((day) => ({ ...day, id: day.date })).reverse(),
        columns: [
          dayColumn(texts.day),
          figure(words.series.changes, (day: Day) => day.changes),
          {
            name: words.series.failed,
            cell: ({ date, failed }: Day) =>
              mayRead && failed > 0 ? <a href={failedHref(date, date)}>{number(failed)}</a> : number(failed),
          },
        ],
      }}
    >
      {(plot) => (
        <Bars
          plot={plot}
          bars={changes.map(({ date, ...values }) => ({ date, values }))}
          series={CHANGES}
          tip={({ date, values }) => texts.tip(dayName(date), parts(values))}
        />
      )}
    </Chart>
  );
}

function dayColumn(name: string) {
  return { name, isHeader: true, cell: ({ date }: { readonly date: string }) => dayName(date) };
}

function figure<T>(name: string, value: (item: T) => number) {
  return { name, cell: (item: T) => number(value(item)) };
}
