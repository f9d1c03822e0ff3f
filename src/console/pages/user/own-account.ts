/** The account whose session this is, as every page of an external user needs it. */

import type { UseQueryResult } from "@tanstack/preact-query";
import { LOCAL_NAME } from "../../../shared/text/host-name.ts";
import type { AnswerOf } from "../../api.ts";
import { useApi } from "../../use-api.tsx";

export type OwnAccount = AnswerOf<"GET /me">;

/** How to connect, where the service knows it. */
export type Ssh = NonNullable<OwnAccount["ssh"]>;

export type OwnHost = AnswerOf<"GET /me/hosts">["items"][number];

export type OwnKey = AnswerOf<"GET /me/keys">["items"][number];

export function useOwnAccount(): UseQueryResult<OwnAccount, Error> {
  return useApi("GET /me");
}

export function useOwnKeys(): UseQueryResult<AnswerOf<"GET /me/keys">, Error> {
  return useApi("GET /me/keys");
}

/** Where the account is: the service's own host, if it is one of them, comes first. */
export function useOwnHosts(): UseQueryResult<AnswerOf<"GET /me/hosts">, Error> {
  return useApi("GET /me/hosts");
}

/** The name that people connect to where the host is the service's own, which has no other. */
export function shownName({ name, ssh }: { readonly name: string; readonly ssh: Pick<Ssh, "host"> | null }): string {
  return name === LOCAL_NAME && ssh !== null ? ssh.host : name;
}
