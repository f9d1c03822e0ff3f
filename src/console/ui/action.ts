/** Something that a person has the service do: one at a time, with what came of it. */

import { useRef, useState } from "preact/hooks";

export interface Action<A extends readonly unknown[]> {
  /** Does it, unless it is being done. Resolves to whether it was done; a failure is in `failure`. */
  run(...args: A): Promise<boolean>;
  readonly busy: boolean;
  /** Why the last try failed; undefined once another one begins. */
  readonly failure: unknown;
  /** Whether part of a try that failed may hold all the same: then there is nothing to cancel. */
  readonly mayHold?: boolean;
  /** Forgets the failure. */
  clear(): void;
}

/** An action; a second press while it runs does nothing. */
export function useAction<A extends readonly unknown[]>(work: (...args: A) => Promise<void>): Action<A> {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  // State is only seen at the next rendering; two presses can come before.
  const running = useRef(false);
  return {
    busy,
    failure,
    clear: () => setFailure(undefined),
    run: async (...args) => {
      if (running.current) return false;
      running.current = true;
      setBusy(true);
      setFailure(undefined);
      try {
        await work(...args);
        return true;
      } catch (error) {
        setFailure(error);
        return false;
      } finally {
        running.current = false;
        setBusy(false);
      }
    },
  };
}
