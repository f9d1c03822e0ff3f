/** A bounded number of long-running things at once. */

import { UamError } from "./errors.ts";

export interface Slots {
  /** Takes a slot and returns what gives it back, once however often it is called; throws `limited` when none is free. */
  take(): () => void;
}

/** `most` slots; `refusal` is the sentence of who comes in vain, who may try again after `retryAfter` seconds. */
export function createSlots(most: number, refusal: string, retryAfter: number): Slots {
  const taken = new Set<symbol>();
  return {
    take() {
      if (taken.size >= most) throw new UamError("limited", refusal, { retryAfter });
      const slot = Symbol();
      taken.add(slot);
      return () => {
        taken.delete(slot);
      };
    },
  };
}
