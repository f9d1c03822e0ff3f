/** Waiting for something that may happen at any moment. */

export interface Bell {
  /** Wakes all who wait. */
  ring(): void;
  /** Resolves at the next ring; one between this call and the waiting is not missed. */
  next(): Promise<void>;
}

/** A bell that nobody has rung yet. */
export function createBell(): Bell {
  let pending = Promise.withResolvers<void>();
  return {
    ring() {
      pending.resolve();
      pending = Promise.withResolvers<void>();
    },
    next: () => pending.promise,
  };
}
