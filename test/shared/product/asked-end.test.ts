import { expect, test } from "bun:test";
import { latestEnd } from "../../../src/shared/product/asked-end.ts";
import { DAY } from "../../../src/shared/time/clock.ts";

const END = 100 * DAY;
const asked = { days: 30, at: 90 * DAY, endThen: END };

test.each([
  ["whose end has not moved", asked, END, Number.POSITIVE_INFINITY],
  ["of which the end was not kept", { ...asked, endThen: null }, END + DAY, Number.POSITIVE_INFINITY],
  ["whose user was extended since", asked, END + 14 * DAY, END + 30 * DAY],
  ["whose user got more than that", asked, END + 60 * DAY, END + 30 * DAY],
  ["whose end was over as they asked", { ...asked, at: END + 5 * DAY }, END + 10 * DAY, END + 35 * DAY],
])("a request %s", (_name, request, end, latest) => {
  expect(latestEnd(request, end)).toBe(latest);
});
