/** The work that stands in for reading a picture: a number that hashes to what the service wants to see. */

import { sha256 } from "@noble/hashes/sha2.js";
import { now } from "../../../ui/clock.ts";

/** Find n in 0..maximum with hex(SHA-256(salt + n)) == target. */
export interface Proof {
  readonly algorithm: string;
  readonly salt: string;
  readonly target: string;
  readonly maximum: number;
}

interface Watch {
  /** Gives up once it aborts. */
  readonly signal: AbortSignal;
  /** Told now and then which share of the numbers was tried; the right one can come at any time. */
  readonly onProgress: (share: number) => void;
}

/** Milliseconds of work between two chances for the page to react; a key press waits no longer than that. */
const SLICE = 12;
/** Milliseconds between two reports of progress. */
const REPORT = 120;
/** Hashes between two looks at the clock. */
const BATCH = 250;
/** Digits of the largest number that is exact in JavaScript. */
const MOST_DIGITS = 16;

/** The number. Rejects when the signal aborts, and when there is no such number. */
export async function solve({ salt, target, maximum }: Proof, { signal, onProgress }: Watch): Promise<number> {
  const encoder = new TextEncoder();
  const prefix = encoder.encode(salt);
  const input = new Uint8Array(prefix.length + MOST_DIGITS);
  input.set(prefix);
  const digits = input.subarray(prefix.length);
  let reported = now();
  let n = 0;
  while (n <= maximum) {
    const end = now() + SLICE;
    do {
      for (const stop = Math.min(maximum, n + BATCH); n <= stop; n++) {
        const { written } = encoder.encodeInto(String(n), digits);
        if (isTarget(sha256(input.subarray(0, prefix.length + written)), target)) return n;
      }
    } while (now() < end && n <= maximum);
    if (now() - reported >= REPORT) {
      reported = now();
      onProgress(Math.min(1, n / maximum));
    }
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
  }
  throw new Error("The service's task has no solution");
}

/** Looks at the first byte before it makes text of all. */
function isTarget(hash: Uint8Array, target: string): boolean {
  if (hash[0] !== Number.parseInt(target.slice(0, 2), 16)) return false;
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("") === target.toLowerCase();
}
