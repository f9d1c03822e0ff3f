/** Changes to a user's access, and the service's preview of their effects. */

import { type AnswerOf, api } from "../../api.ts";
import { hostsSentence } from "../../ui/confirmed.ts";

export type Change =
  | { readonly kind: "disable" }
  | { readonly kind: "enable" }
  | { readonly kind: "delete" }
  /** 0 days means the default. */
  | { readonly kind: "extend"; readonly days: number };

export type UserPreview = Extract<AnswerOf<"POST /users/:id/disable">, { readonly preview: true }>;

/** The effects of the change; nothing changes. Throws the refusals of the change itself. */
export async function previewChange(id: number, change: Change): Promise<UserPreview> {
  const answer = await ask(id, change, { preview: "true" });
  if (!("preview" in answer)) throw new Error("The service answered a preview with something else");
  return answer;
}

/** Makes the change, with the reason if there is one. On return it holds, on further hosts as the sentence says; "" where none is concerned. */
export async function makeChange(id: number, change: Change, reason: string): Promise<string> {
  return hostsSentence(await ask(id, change, {}, reason));
}

function ask(id: number, change: Change, query: { readonly preview?: "true" }, reason = "") {
  const about = { params: { id }, query };
  const why = reason === "" ? {} : { reason };
  switch (change.kind) {
    case "disable":
      return api("POST /users/:id/disable", { ...about, body: why });
    case "enable":
      return api("POST /users/:id/enable", { ...about, body: why });
    case "extend":
      return api("POST /users/:id/extend", { ...about, body: { days: change.days, ...why } });
    case "delete":
      return api("DELETE /users/:id", { ...about, query: { ...query, ...why } });
  }
}
