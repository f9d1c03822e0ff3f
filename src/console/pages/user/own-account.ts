/** The account whose session this is, as every page of an external user needs it. */

import type { UseQueryResult } from "@tanstack/preact-query";
import type { AnswerOf } from "../../api.ts";
import { useApi } from "../../use-api.tsx";

export type OwnAccount = AnswerOf<"GET /me">;

export type OwnKey = AnswerOf<"GET /me/keys">["items"][number] & {
  // Not in the table of routes yet.
  readonly last_used_at?: string | null;
  readonly last_used_from?: string;
};

export function useOwnAccount(): UseQueryResult<OwnAccount, Error> {
  return useApi("GET /me");
}

export function useOwnKeys(): UseQueryResult<{ readonly items: readonly OwnKey[] }, Error> {
  return useApi("GET /me/keys");
}
