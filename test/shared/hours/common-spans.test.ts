import { expect, test } from "bun:test";
import { commonSpans } from "../../../src/shared/hours/common-spans.ts";

const at = (hour: number) => new Date(Date.UTC(2026, 10, 27, hour)).toISOString();
const spans = (...hours: readonly (readonly [number, number])[]) =>
  hours.map(([from, to]) => ({ from: at(from), to: at(to) }));

test.each([
  ["nothing of nothing", spans(), spans([1, 2]), spans()],
  ["the same", spans([1, 2], [4, 6]), spans([1, 2], [4, 6]), spans([1, 2], [4, 6])],
  ["what overlaps", spans([1, 5], [6, 9]), spans([2, 3], [4, 7], [8, 12]), spans([2, 3], [4, 5], [6, 7], [8, 9])],
  ["not what only touches", spans([1, 2]), spans([2, 3]), spans()],
])("commonSpans() has %s, either way round", (_, one, other, common) => {
  expect(commonSpans(one, other)).toEqual(common);
  expect(commonSpans(other, one)).toEqual(common);
});
