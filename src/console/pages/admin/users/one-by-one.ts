/** Doing the same for many, one after the other, so that it can be stopped in between and each outcome is known. */

import { ApiFailure } from "../../../api.ts";

const SECOND = 1000;

export interface Outcome<T, R> {
  readonly item: T;
  readonly result:
    | { readonly kind: "done"; readonly value: R }
    | { readonly kind: "failed"; readonly failure: unknown };
}

interface Watch<T, R> {
  /** Called after each, with all outcomes so far. */
  readonly onProgress: (outcomes: readonly Outcome<T, R>[]) => void;
  /** Asked before each; nothing that was begun is broken off. */
  readonly isStopped: () => boolean;
}

/** Does the work for each item. A failure is an outcome, and the next item follows; what was stopped has no outcome. */
export async function oneByOne<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  { onProgress, isStopped }: Watch<T, R>,
): Promise<readonly Outcome<T, R>[]> {
  let outcomes: readonly Outcome<T, R>[] = [];
  for (const item of items) {
    if (isStopped()) break;
    outcomes = [...outcomes, { item, result: await outcomeOf(work, item, isStopped) }];
    onProgress(outcomes);
  }
  return outcomes;
}

async function outcomeOf<T, R>(
  work: (item: T) => Promise<R>,
  item: T,
  isStopped: () => boolean,
): Promise<Outcome<T, R>["result"]> {
  for (;;) {
    try {
      return { kind: "done", value: await work(item) };
    } catch (failure) {
      const wait = failure instanceof ApiFailure && failure.reason === "rate.refused" ? failure.retryAfter : undefined;
      // Many were refused, which says nothing of the next: it has its turn when the service looks at changes again.
      for (let left = wait ?? 0; left > 0 && !isStopped(); left--) await new Promise((go) => setTimeout(go, SECOND));
      if (wait === undefined || isStopped()) return { kind: "failed", failure };
    }
  }
}

/** The items for which the work was done, with what came of it. */
export function doneOf<T, R>(outcomes: readonly Outcome<T, R>[]): readonly { readonly item: T; readonly value: R }[] {
  return outcomes.flatMap(({ item, result }) => (result.kind === "done" ? [{ item, value: result.value }] : []));
}

/** The items for which it failed, and why. */
export function failedOf<T, R>(
  outcomes: readonly Outcome<T, R>[],
): readonly { readonly item: T; readonly failure: unknown }[] {
  return outcomes.flatMap(({ item, result }) => (result.kind === "failed" ? [{ item, failure: result.failure }] : []));
}
