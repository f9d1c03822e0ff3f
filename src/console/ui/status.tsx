/** A status: a word, marked by colour and shape besides. */

import { common } from "../texts/common.ts";

/** The state; the word says it, so that colour is never the only sign. */
export function Status({ value }: { readonly value: keyof typeof common.status }) {
  return <span class={`status ${value}`}>{common.status[value]}</span>;
}
