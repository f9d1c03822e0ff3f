/** Misspelled names: of fields, query parameters, commands and options. */

import { distance } from "fastest-levenshtein";

/** A shorter prefix says too little about the name. */
const MIN_PREFIX = 3;
/** From this many letters on a name may have two typos. */
const LONG_NAME = 7;

/**
 * The known name that `name` was probably meant to be; undefined if it is known itself, or resembles none. It resembles a
 * name that is the same except for case, `_` and `-`; that is one edit away, or two for seven letters or more; or that begins
 * with it, three letters at least. The nearest comes first, then the first of those given.
 */
export function nearMiss(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return undefined;
  const given = fold(name);
  let nearest: { readonly name: string; readonly edits: number } | undefined;
  for (const candidate of known) {
    const edits = editsBetween(given, fold(candidate));
    if (edits !== undefined && edits < (nearest?.edits ?? Number.POSITIVE_INFINITY)) {
      nearest = { name: candidate, edits };
    }
  }
  return nearest?.name;
}

/** Undefined where the two do not look alike; a name's beginning is further away than its misspellings. */
function editsBetween(given: string, known: string): number | undefined {
  const most = known.length >= LONG_NAME ? 2 : 1;
  // The sender chooses the name's length, and finding the distance takes time in the product of both lengths.
  if (Math.abs(given.length - known.length) <= most) {
    const edits = isSwapped(given, known) ? 1 : distance(given, known);
    if (edits <= most) return edits;
  }
  return given.length >= MIN_PREFIX && known.startsWith(given) ? most + 1 : undefined;
}

/** Whether two neighbouring letters changed places: two edits to Levenshtein, one typo to a person. */
function isSwapped(given: string, known: string): boolean {
  if (given.length !== known.length || given === known) return false;
  let at = 0;
  while (given[at] === known[at]) at++;
  return given[at] === known[at + 1] && given[at + 1] === known[at] && given.slice(at + 2) === known.slice(at + 2);
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, "");
}
