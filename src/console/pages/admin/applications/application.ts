/** An application as the service lists it. */

import { extendedEnd, latestEnd } from "../../../../shared/product/extension.ts";
import { DAY } from "../../../../shared/time/clock.ts";
import type { AnswerOf } from "../../../api.ts";
import { now } from "../../../ui/clock.ts";
import { later } from "../days.ts";

export type Application = AnswerOf<"GET /approvals">["items"][number];

/** Whether it waits for a decision. */
export function isOpen({ status }: Application): boolean {
  return status === "pending";
}

/** The id of the element that it is shown in. */
export function cardId(id: number): string {
  return `application-${id}`;
}

/** The end that `days` more give a user whose access ends at `end`; at most `latest`. */
export function endAfter(end: string, days: number, latest?: number): string {
  return later(extendedEnd({ end: Date.parse(end), now: now(), length: days * DAY, latest }), 0);
}

/** The end that approving the request as it is gives. */
export function approvedEnd({ days, created_at: at, end_when_asked: then }: Application, end: string): string {
  const asked = { days: days ?? 0, at: Date.parse(at), endThen: then === null ? null : Date.parse(then) };
  return endAfter(end, asked.days, latestEnd(asked, Date.parse(end)));
}
