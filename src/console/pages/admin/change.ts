/** Changes to a user's access, and the service's preview of their effects. */

import { type AnswerOf, ApiFailure, api } from "../../api.ts";
import { now } from "../../ui/clock.ts";
import { hostsSentence } from "../../ui/confirmed.ts";
import type { UserRecord } from "./user/record.ts";

export type Change =
  | { readonly kind: "disable" }
  | { readonly kind: "enable" }
  | { readonly kind: "delete" }
  /** 0 days means the default. */
  | { readonly kind: "extend"; readonly days: number }
  /** An end, which may be earlier than the present one. */
  | { readonly kind: "extend"; readonly until: string };

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

/** What sets a user back to what they were before a change, for as long as they are as that change left them. */
export interface WayBack {
  readonly user: UserRecord;
  readonly change: Change;
  /** The `updated_at` that the change left. */
  readonly since: string;
}

/** Makes the change as `makeChange` does. There is a way back only if the user was as shown: without it, they may have been otherwise before. */
export async function makeUndoable(user: UserRecord, change: Change, reason: string) {
  return await makeIfUnchanged(user, change, reason).catch(async (error: unknown) => {
    if (isChanged(error)) return made(user, change, await ask(user.id, change, {}, reason));
    throw error;
  });
}

/** The same, but fails with `isChanged()`, and changes nothing, if the user is no longer as shown. */
export async function makeIfUnchanged(user: UserRecord, change: Change, reason: string) {
  return made(user, change, await ask(user.id, change, {}, reason, user.updated_at));
}

function made(user: UserRecord, change: Change, answer: Awaited<ReturnType<typeof ask>>) {
  return { hosts: hostsSentence(answer), back: wayBack(user, change, answer) };
}

/** Whether it was refused because somebody changed the user meanwhile. */
export function isChanged(error: unknown): boolean {
  return error instanceof ApiFailure && error.reason === "user.changed";
}

/** Goes the way back, or fails with `isChanged()`. On return the user is as before, on further hosts as the sentence says. */
export async function undo({ user, change, since }: WayBack): Promise<string> {
  return hostsSentence(await ask(user.id, change, {}, "", since));
}

function wayBack(user: UserRecord, { kind }: Change, answer: object): WayBack | undefined {
  const { updated_at: since, old_expire_at: until = "" } = answer as { updated_at?: string; old_expire_at?: string };
  if (since === undefined || kind === "delete") return undefined;
  // Who was disabled before stays so: only the account was shut once more.
  if (user.status === (kind === "disable" ? "disabled" : kind === "enable" && "active")) return undefined;
  if (kind !== "extend") return { user, since, change: { kind: kind === "disable" ? "enable" : "disable" } };
  // Nobody is given an end that is over.
  return Date.parse(until) > now() ? { user, since, change: { kind, until } } : undefined;
}

async function ask(id: number, change: Change, query: { readonly preview?: "true" }, reason = "", since?: string) {
  const about = { params: { id }, query };
  const why = reason === "" ? {} : { reason };
  const options = since === undefined ? why : { ...why, unchanged_since: since };
  switch (change.kind) {
    case "disable":
      return api("POST /users/:id/disable", { ...about, body: options });
    case "enable":
      return api("POST /users/:id/enable", { ...about, body: options });
    case "extend": {
      const { kind: _, ...end } = change;
      return api("POST /users/:id/extend", { ...about, body: { ...end, ...options } });
    }
    case "delete":
      return api("DELETE /users/:id", { ...about, query: { ...query, ...why } });
  }
}
