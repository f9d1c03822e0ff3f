/** A field whose value is there already, once the service has said it. */

import { useLayoutEffect } from "preact/hooks";

/**
 * The text of the field of that name: what was typed, else the prefilled value, which may arrive late. The next text typed
 * replaces a value that has just arrived, as it would have replaced the empty field: else 5 days become 905.
 */
export function usePrefilled(name: string, typed: string | undefined, prefilled: number | null | undefined): string {
  useLayoutEffect(() => {
    const field = document.activeElement;
    if (typed === undefined && field instanceof HTMLInputElement && field.name === name) field.select();
  }, [prefilled]);
  return typed ?? String(prefilled ?? "");
}
