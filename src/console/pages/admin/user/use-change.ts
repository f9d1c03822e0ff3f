/** One change to a user: what it would do, and doing it. */

import { useQuery } from "@tanstack/preact-query";
import { ApiFailure } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { type Action, useAction } from "../../../ui/action.ts";
import { type Change, previewChange, type UserPreview } from "../change.ts";

/** The effects of the change if made now; asked for anew each time. Nothing is asked without a change. */
export function usePreview(id: number, change: Change | undefined) {
  return useQuery<UserPreview, Error>({
    queryKey: ["preview", id, change ?? null],
    queryFn: () => {
      if (change === undefined) throw new Error("There is nothing to preview");
      return previewChange(id, change);
    },
    enabled: change !== undefined,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
}

/** Something that is done to the user. If the service could not finish, part of it may hold all the same: so all is shown anew. */
export function useChangeAction<A extends readonly unknown[]>(work: (...args: A) => Promise<void>): Action<A> {
  const action = useAction(async (...args: A) => {
    try {
      await work(...args);
    } catch (error) {
      if (error instanceof ApiFailure && error.status !== 400) void forgetAnswers();
      throw error;
    }
  });
  return { ...action, mayHold: true };
}
