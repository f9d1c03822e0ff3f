/** Paged lists. */

/** Which part of a list is wanted; both are integers of at least 1. */
export interface Page {
  readonly page: number;
  readonly pageSize: number;
}

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 500;

/** One page of a list, and how long the whole list is. */
export interface Paged<T> {
  readonly total: number;
  readonly items: readonly T[];
}

/** Rows to skip before the page begins. */
export function offsetOf(page: Page): number {
  return (page.page - 1) * page.pageSize;
}
