/** A host as the service shows one, and what its state comes to. */

import type { AnswerOf } from "../../api.ts";
import type { HostState } from "../../texts/hosts/hosts.ts";

export type HostRecord = AnswerOf<"GET /hosts">["items"][number];
export type HostDetail = AnswerOf<"GET /hosts/:id">;
export type Leased = Pick<HostRecord, "kind" | "status" | "lease" | "lease_until">;

/** The host's state at that time. */
export function stateOf({ status, lease, lease_until: until }: Leased, time: number): HostState {
  const isOver = lease !== "none" && until !== null && new Date(until).getTime() <= time;
  return status === "active" && isOver ? "ended" : status;
}
