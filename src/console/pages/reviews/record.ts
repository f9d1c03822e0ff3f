/** Reviews as the service shows them, and the answers that there are. */

import type { AnswerOf } from "../../api.ts";

export type Review = AnswerOf<"GET /reviews/:id">;
export type Item = AnswerOf<"GET /reviews/:id/items">["items"][number];

export const ANSWERS = ["keep", "end", "shorten", "grace"] as const;

/** What somebody is about to answer, and for whom. */
export interface Answering {
  readonly answer: (typeof ANSWERS)[number];
  readonly items: readonly Item[];
}
