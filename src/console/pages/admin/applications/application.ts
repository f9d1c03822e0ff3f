/** An application as the service lists it. */

import type { AnswerOf } from "../../../api.ts";

export type Application = AnswerOf<"GET /approvals">["items"][number];

/** Whether it waits for a decision. */
export function isOpen({ status }: Application): boolean {
  return status === "pending";
}

/** The id of the element that it is shown in. */
export function cardId(id: number): string {
  return `application-${id}`;
}
