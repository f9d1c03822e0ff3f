/** uam stats: the figures of the dashboard. */

import { object } from "@optique/core/constructs";
import { message, text } from "@optique/core/message";
import { map, optional } from "@optique/core/modifiers";
import { command, option } from "@optique/core/primitives";
import { integer } from "@optique/core/valueparser";
import { jsonFlag } from "../../terminal/arguments.ts";
import { type Command, EXIT, withServices } from "../../terminal/environment.ts";
import { type Column, printJson, printTable } from "../../terminal/output.ts";

/** As in the API; not imported, because that would load the database's driver. */
const DAYS = { min: 7, max: 365 } as const;

export const statsCommand = command(
  "stats",
  map(
    object({
      days: optional(
        option("--days", integer({ ...DAYS, metavar: "N" }), {
          description: message`Show instead the last N days, one a line, from ${text(String(DAYS.min))} to ${text(String(DAYS.max))}.`,
        }),
      ),
      json: jsonFlag(),
    }),
    ({ days, json }) => (days === undefined ? showFigures(json) : showDays(days, json)),
  ),
  {
    brief: message`Show how many users and applications there are.`,
    description: message`Shows how many users there are in each state, how many of the active ones expire within 30 days, and how many applications are pending. With --days, users by state and changes of each day (UTC) that is known: the states are counted while the service runs, and the changes are what the audit log has, without logins.`,
  },
);

function showFigures(json: boolean): Command {
  return async (environment) => {
    const { readStats } = await import("../../../domain/stats/stats.ts");
    const { statsRecord } = await import("../../../server/records.ts");
    const record = statsRecord(await withServices(environment, "read", readStats));
    if (json) printJson(environment, record);
    else
      await printTable(environment, FIGURES, Object.entries({ ...record, expiring_soon: record.expiring_soon.length }));
    return EXIT.done;
  };
}

const FIGURES: readonly Column<readonly [string, number]>[] = [
  { header: "FIGURE", value: ([name]) => name },
  { header: "NUMBER", value: ([, number]) => number },
];

function showDays(days: number, json: boolean): Command {
  return async (environment) => {
    const { readSeries } = await import("../../../domain/stats/series.ts");
    const { seriesRecord } = await import("../../../server/records.ts");
    const record = seriesRecord(await withServices(environment, "read", (context) => readSeries(context, days)));
    if (json) printJson(environment, record);
    else await printTable(environment, DAILY, linesOf(record));
    return EXIT.done;
  };
}

interface Line {
  readonly date: string;
  readonly active?: number;
  readonly disabled?: number;
  readonly expired?: number;
  readonly changes?: number;
  readonly failed?: number;
}

/** A line for each day of which something is known. */
function linesOf({
  states,
  changes,
}: ReturnType<typeof import("../../../server/records.ts").seriesRecord>): readonly Line[] {
  const lines = new Map<string, Line>();
  for (const line of [...states, ...changes]) lines.set(line.date, { ...lines.get(line.date), ...line });
  return [...lines.values()].sort((one, other) => (one.date < other.date ? -1 : 1));
}

const DAILY: readonly Column<Line>[] = [
  { header: "DATE", value: ({ date }) => date },
  { header: "ACTIVE", value: ({ active = "-" }) => active },
  { header: "DISABLED", value: ({ disabled = "-" }) => disabled },
  { header: "EXPIRED", value: ({ expired = "-" }) => expired },
  { header: "CHANGES", value: ({ changes = "-" }) => changes },
  { header: "FAILED", value: ({ failed = "-" }) => failed },
];
