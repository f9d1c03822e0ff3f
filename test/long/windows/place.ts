/** A host with accounts that share one window, and what can befall whoever opens and shuts them. */

import type { TestSshd } from "../../support/sshd.ts";

/** Moments in milliseconds since 1970, whole seconds. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

export interface Account {
  readonly name: string;
  readonly uid: number;
  /** The private key. */
  readonly key: string;
  /** Where its key lies while it is open. */
  readonly file: string;
}

export interface Way {
  /** Befalls before the window begins. */
  readonly before?: () => void;
  /** Befalls inside it. */
  readonly inside?: () => void;
  /** Mends it after the end. */
  readonly after?: () => Promise<void>;
  /** Whether somebody is left who can end sessions. */
  readonly endsSessions: boolean;
}

export interface Place {
  readonly about: string;
  readonly sshd: TestSshd;
  readonly accounts: readonly Account[];
  readonly ways: Readonly<Record<string, Way>>;
  /** From the request for access by rule `self`, which the console's button sends, to a command in a shell, in milliseconds: once for each account. */
  readonly shells?: () => Promise<readonly number[]>;
  /** Has whoever opens and shuts them know of the next window. */
  tell(): Promise<Window>;
  /** Ends what was started; the accounts are left to `forgetRuns`. */
  close(): Promise<void>;
}

/** In milliseconds, for each account: as long as one needs to be opened, entered and left, on a busy machine. */
const LASTS = { least: 12_000, each: 600 };

/** How long a window of so many accounts lasts at least. */
export function lengthFor(accounts: number): number {
  return LASTS.least + LASTS.each * accounts;
}

/**
 * Tells of a window that begins after so many milliseconds, and of a later one if that had begun before all had heard: a busy machine takes
 * longer.
 */
export async function toldInTime(begins: number, tell: (from: number) => Promise<Window>): Promise<Window> {
  for (let wait = begins, attempt = 1; ; wait *= 2, attempt++) {
    const window = await tell(Date.now() + wait);
    if (Date.now() < window.from) return window;
    if (attempt === 5) throw new Error(`nobody hears of a window within ${wait} ms`);
  }
}
