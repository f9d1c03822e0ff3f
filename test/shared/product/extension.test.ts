import { expect, test } from "bun:test";
import { extendedEnd, latestEnd } from "../../../src/shared/product/extension.ts";
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

test.each([
  ["an end to come", { end: END, now: END - DAY, length: 5 * DAY }, END + 5 * DAY],
  ["an end that is over", { end: END, now: END + DAY, length: 5 * DAY }, END + 6 * DAY],
  ["a limit", { end: END, now: 0, length: 5 * DAY, latest: END + 2 * DAY }, END + 2 * DAY],
  ["a limit before the present end", { end: END, now: 0, length: 5 * DAY, latest: END - DAY }, END],
  ["a limit that is over", { end: END, now: END + DAY, length: 5 * DAY, latest: END }, END + DAY],
])("is extended from %s", (_name, extension, end) => {
  expect(extendedEnd(extension)).toBe(end);
});
