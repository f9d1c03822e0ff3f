/** The account whose session this is, as every page of an external user needs it, and what its owner can do with it. */

import type { UseQueryResult } from "@tanstack/preact-query";
import { type AnswerOf, api, type RouteKey } from "../../api.ts";
import { useApi } from "../../use-api.tsx";

/** What the table of routes does not have yet. */
interface Upcoming {
  readonly supervisor: string;
  readonly purpose: string;
  readonly created_at: string;
  readonly ends: {
    readonly at: string;
    readonly reason: "expiry" | "expired" | "disabled";
    readonly removed_at: string;
  };
  readonly ssh: { readonly command: string; readonly config: string; readonly known_hosts: readonly string[] };
  readonly extension: {
    readonly id: number;
    readonly status: "pending" | "approved" | "rejected";
    readonly days: number;
    readonly created_at: string;
    readonly reviewed_at: string | null;
    readonly reason: string;
  } | null;
}

export type OwnAccount = AnswerOf<"GET /me"> & Upcoming;
export type OwnKey = AnswerOf<"GET /me/keys">["items"][number] & {
  readonly last_used_at: string | null;
  readonly last_used_from: string;
};

export function useOwnAccount(): UseQueryResult<OwnAccount, Error> {
  return useApi("GET /me") as UseQueryResult<OwnAccount, Error>;
}

export function useOwnKeys(): UseQueryResult<{ readonly items: readonly OwnKey[] }, Error> {
  return useApi("GET /me/keys") as unknown as UseQueryResult<{ readonly items: readonly OwnKey[] }, Error>;
}

/** Shuts the account ("this was not me"), and ends every session of its owner. */
export async function lockOwnAccount(): Promise<void> {
  await api("POST /me/lock" as RouteKey);
}

/** Asks for more time, which an administrator decides about. */
export async function requestExtension(request: { readonly days: number; readonly reason: string }): Promise<void> {
  await api("POST /me/extension" as RouteKey, { body: request as never });
}
