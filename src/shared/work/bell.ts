/** Waiting for something that may happen at any moment. */

export interface Bell {
  /** Wakes all waiters. */
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

/** Several workers of one kind, of which a ring wakes one. */
export interface Shift {
  /** Wakes the longest waiter; without waiters, the next one does not have to wait. */
  ring(): void;
  /** Resolves at a ring for this one, or after so many milliseconds. */
  wait(most: number): Promise<void>;
}

/** A shift without waiters or pending rings. */
export function createShift(): Shift {
  const waiting = new Set<() => void>();
  let isRung = false;
  return {
    ring() {
      const [first] = waiting;
      if (first === undefined) isRung = true;
      else first();
    },
    wait(most) {
      if (isRung) {
        isRung = false;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          // Skips cancelled waiters: the ring is for another.
          waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, most);
        waiting.add(wake);
      });
    },
  };
}
