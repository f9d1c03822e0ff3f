/** An application as the service lists it. */

import { latestEnd } from "../../../../shared/product/asked-end.ts";
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

/** From when on more time counts, in milliseconds: from the present end, or from now if that is over. */
export function startOf(end: string): number {
  return Math.max(Date.parse(end), now());
}

/** The end that approving the request as it is gives a user whose access ends at `end`. */
export function approvedEnd({ days, created_at: at, end_when_asked: then }: Application, end: string): string {
  const asked = { days: days ?? 0, at: Date.parse(at), endThen: then === null ? null : Date.parse(then) };
  const start = startOf(end);
  const given = Math.min(start + asked.days * DAY, latestEnd(asked, Date.parse(end)));
  return later(Math.max(start, given), 0);
}
