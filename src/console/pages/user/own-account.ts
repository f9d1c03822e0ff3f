/** The account whose session this is, as every page of an external user needs it. */

import type { UseQueryResult } from "@tanstack/preact-query";
import type { AnswerOf } from "../../api.ts";
import { useApi } from "../../use-api.tsx";

export type OwnAccount = AnswerOf<"GET /me">;

/** How to connect, where the service knows it. */
export type Ssh = NonNullable<OwnAccount["ssh"]>;

export type OwnKey = AnswerOf<"GET /me/keys">["items"][number];

export function useOwnAccount(): UseQueryResult<OwnAccount, Error> {
  return useApi("GET /me");
}

export function useOwnKeys(): UseQueryResult<AnswerOf<"GET /me/keys">, Error> {
  return useApi("GET /me/keys");
}
