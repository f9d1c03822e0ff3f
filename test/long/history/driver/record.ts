/** Writes a history (../format.ts): each deed before it is done, and its end after that. */

import { closeSync, openSync, writeSync } from "node:fs";
import type { Deed, End, Line, Start } from "../format.ts";

/** How a deed ended, and what its answer says of hosts. */
export type Outcome = Pick<End, "e" | "why" | "pending" | "by">;

export interface Recorder {
  /** Does it between its two lines; a deed that throws ends as unknown. Returns what `act` does, or undefined. */
  during<T extends Outcome>(process: string, deed: Deed, act: (n: number) => Promise<T> | T): Promise<T | undefined>;
  /** The observer's time in milliseconds. */
  now(): number;
  /** That time at a date. */
  at(date: Date | number): number;
  /** The date at that time, in milliseconds since 1970. */
  dateAt(time: number): number;
  readonly counts: ReadonlyMap<string, number>;
  close(): void;
}

export function openRecorder(file: string, about: Omit<Start, "e" | "version" | "wall">): Recorder {
  const descriptor = openSync(file, "w");
  const began = performance.now();
  const counts = new Map<string, number>();
  let last = 0;
  let numbers = 0;
  let isOpen = true;
  const now = () => performance.now() - began;
  /** An end is not earlier than it was, a beginning not later. Lines are in the order of their times. */
  const stamp = (time: number) => {
    last = Math.max(last, time);
    return last;
  };
  function write(line: Line): void {
    if (isOpen) writeSync(descriptor, `${JSON.stringify(line)}\n`);
  }
  write({ e: "start", version: 1, wall: new Date().toISOString(), ...about });

  return {
    now,
    at: (date) => Math.round(now() + Number(date) - Date.now()),
    dateAt: (time) => Date.now() + time - now(),
    counts,
    async during(process, deed, act) {
      const n = ++numbers;
      write({ e: "invoke", n, t: stamp(Math.floor(now())), process, ...deed });
      const end = ({ e, why, pending, by }: Outcome) => {
        const about = {
          ...(why === undefined ? {} : { why }),
          ...(pending === undefined ? {} : { pending, by: by ?? null }),
        };
        write({ e, n, t: stamp(Math.ceil(now())), ...about });
        const name = `${deed.do} ${e}`;
        counts.set(name, (counts.get(name) ?? 0) + 1);
      };
      try {
        const outcome = await act(n);
        end(outcome);
        return outcome;
      } catch (error) {
        end({ e: "unknown", why: String(error) });
        return undefined;
      }
    },
    close: () => {
      isOpen = false;
      closeSync(descriptor);
    },
  };
}
