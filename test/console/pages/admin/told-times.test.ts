/** Moments in the service's sentences, as a page shows them. */

import { expect, test } from "bun:test";
import { toldTimes } from "../../../../src/console/pages/admin/told-times.ts";
import { moment } from "../../../../src/console/ui/clock.ts";

const TIME = "2026-12-01T08:30:00.000Z";

test.each([
  [`anna has been disabled since ${TIME}, by root.`, `anna has been disabled since ${moment(TIME)}, by root.`],
  [
    "anna keeps access until 2026-12-01 08:30 UTC, instead of 2026-12-01 08:30 UTC.",
    `anna keeps access until ${moment(TIME)}, instead of ${moment(TIME)}.`,
  ],
  // What only looks like a moment, and dates that somebody typed.
  ["2026-99-01 08:30 UTC", "2026-99-01 08:30 UTC"],
  ["Ends 2026-12-01, ticket 08:30", "Ends 2026-12-01, ticket 08:30"],
])("toldTimes() writes %j as the page does", (sentence, shown) => {
  expect(toldTimes(sentence)).toBe(shown);
});
