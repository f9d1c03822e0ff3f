/** The service's answers as state of a page: asked for once, shown again, asked for anew. */

import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";
import { type AnswerOf, type Ask, api, type RouteKey } from "./api.ts";
import { Loading } from "./ui/loading.tsx";
import { Failure } from "./ui/notice.tsx";

type GetRoute = Extract<RouteKey, `GET ${string}`>;

/** Items that wait for a decision are asked for again this often, in milliseconds, while the page is seen. */
export const WATCHED = 60_000;

/**
 * The answer to a GET. While another page of the same list is on its way, the one before stays. With `every`, it is asked for again
 * after so many milliseconds; else when the reader comes back to the page, but not if that is false: for answers that cost the host work.
 */
export function useApi<R extends GetRoute>(
  route: R,
  ask: Omit<Ask<R>, "signal" | "body"> = {},
  every?: number | false,
) {
  return useQuery<AnswerOf<R>, Error>({
    queryKey: [route, ask.params ?? {}, ask.query ?? {}],
    queryFn: ({ signal }) => api(route, { ...ask, signal } as Ask<R>),
    placeholderData: keepPreviousData,
    refetchInterval: every ?? false,
    ...(every === false ? { refetchOnWindowFocus: false } : {}),
  });
}

interface LoadedProps<T> {
  readonly query: UseQueryResult<T, Error>;
  readonly children: (data: T) => ComponentChildren;
}

/** The content once there is an answer; until then that it is loading, or why there is none, with a way to try again. */
export function Loaded<T>({ query, children }: LoadedProps<T>) {
  const { data, error, isPlaceholderData, refetch } = query;
  return (
    <>
      {error === null ? null : <Failure failure={error} onRetry={() => void refetch()} />}
      {data === undefined ? (
        error === null ? (
          <Loading />
        ) : null
      ) : (
        <div class={isPlaceholderData ? "older" : ""} aria-busy={isPlaceholderData}>
          {children(data)}
        </div>
      )}
    </>
  );
}
