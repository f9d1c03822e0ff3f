/** The year as it is under way, and what is said of it. */

import type { UamError } from "../../../src/shared/errors.ts";
import type { Book } from "./oracle.ts";
import type { Link, World } from "./world.ts";

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** Hours from one time that something happens to the next. */
export const STEP = 6;

export interface Size {
  readonly seed: number;
  readonly days: number;
  readonly people: number;
  readonly sponsors: number;
  readonly firms: number;
  /** Days from one review of everybody to the next. */
  readonly every: number;
  readonly tell?: (line: string) => void;
}

/** A link, and what became of it. */
export interface MailedLink extends Omit<Link, "about"> {
  about: readonly number[];
  isDead: boolean;
  readonly used: Set<number>;
}

export interface Year {
  readonly size: Size;
  readonly world: World;
  book: Book;
  readonly random: () => number;
  /** What was done, how often. */
  readonly figures: Map<string, number>;
  readonly findings: string[];
  /** What was known when the last backup was made. */
  saved: Book | undefined;
  /** Users so far; no name comes again. */
  joined: number;
  /** Links that are in somebody's mailbox. */
  links: MailedLink[];
  /** Whether the host refuses to shut accounts, in this hour. */
  isShaky: boolean;
}

export function find(year: Year, text: string): void {
  year.findings.push(`${year.world.clock.now().toISOString()} ${text}`);
}

export function count(year: Year, what: string, by = 1): void {
  year.figures.set(what, (year.figures.get(what) ?? 0) + by);
}

export function nowOf({ world }: Year): number {
  return world.clock.now().getTime();
}

/** What was refused, or the result. Anything but a refusal is a finding. */
export async function attempt<T>(
  year: Year,
  what: string,
  work: () => Promise<T>,
): Promise<{ readonly done: T } | { readonly refused: string }> {
  try {
    return { done: await work() };
  } catch (error) {
    const { name, message, reason, code } = error as UamError;
    if (code === undefined) find(year, `${what}: ${name} ${message}`);
    return { refused: `${code} ${reason ?? ""} ${message}` };
  }
}

export function pick<T>({ random }: Year, from: readonly T[]): T | undefined {
  return from[Math.floor(random() * from.length)];
}

export function addressOf(year: Year): string {
  return `sponsor-${Math.floor(year.random() * year.size.sponsors)}@example.net`;
}

/** Whether it was done; a finding unless it was done, or refused, as expected. */
export function told(
  year: Year,
  { what, made, expected }: { readonly what: string; readonly made: object; readonly expected: string | undefined },
): boolean {
  const isDone = "done" in made;
  const kind = what.split(" ")[0] ?? "";
  count(year, isDone ? kind : `${kind} refused`);
  if (isDone === (expected === undefined)) return isDone;
  // A host that fails keeps access from being given.
  if (!isDone && year.isShaky) return false;
  find(year, `${what}: ${JSON.stringify(made).slice(0, 200)}, expected ${expected ?? "that it is done"}`);
  return isDone;
}

/** Mulberry32: the same year for the same seed. */
export function mulberry(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
