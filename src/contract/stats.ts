/** The dashboard's figures by day, in requests and answers. */

import * as v from "valibot";
import { SERIES_DAYS } from "../shared/limits.ts";
import { described } from "./fields.ts";
import { UserRecord } from "./users.ts";

const { least, most, usual } = SERIES_DAYS;

export const SeriesQuery = v.object({
  days: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,4}$/, "must be a whole number"),
      v.metadata({ type: "integer", minimum: least, maximum: most, description: "How many days, back and ahead" }),
      v.transform(Number),
      v.minValue(least, `must be at least ${least}`),
      v.maxValue(most, `must be at most ${most}`),
    ),
    String(usual),
  ),
});

const date = described("2026-11-20", "A day, UTC", { format: "date" });

export const SeriesRecord = v.pipe(
  v.object({
    days: number(usual),
    states: v.pipe(
      v.array(v.object({ date, active: number(9), disabled: number(2), expired: number(1) })),
      v.description("Users by state, as last counted on that day"),
    ),
    ends: v.pipe(v.array(v.object({ date, users: number(1) })), v.description("Active users who expire on that day")),
    changes: v.pipe(
      v.array(v.object({ date, changes: number(14), failed: number(1) })),
      v.description("Changes on record, and those that failed; logins are none"),
    ),
  }),
  v.title("StatsSeries"),
);

export const StatsRecord = v.pipe(
  v.object({
    total: number(12),
    active: number(9),
    disabled: number(2),
    expired: number(1),
    expiring_soon: v.pipe(
      v.array(UserRecord),
      v.description("Active users who expire within the next 30 days, soonest first"),
    ),
    pending_approvals: number(3),
  }),
  v.title("Stats"),
);

function number(example: number) {
  return v.pipe(v.number(), v.integer(), v.minValue(0), v.examples([example]));
}
