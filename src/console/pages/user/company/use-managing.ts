/** Something that a manager has the service do. */

import { ApiFailure } from "../../../api.ts";
import { forgetAnswers } from "../../../signed-in.tsx";
import { type Action, useAction } from "../../../ui/action.ts";

/** As `useAction`. If it is refused, all is shown anew: part of it may hold all the same, or they are no manager any more. */
export function useManaging(work: () => Promise<void>): Action<[]> {
  const action = useAction(async () => {
    try {
      await work();
    } catch (error) {
      if (error instanceof ApiFailure && error.status !== 400) void forgetAnswers();
      throw error;
    }
  });
  return { ...action, mayHold: true };
}
