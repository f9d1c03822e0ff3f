/** Text that somebody typed, as part of a sentence. */

const NAMED = 80;
/** Embeddings, overrides and isolates (UAX #9): they show a text in another order than that of its characters. */
const REORDERING = /[\u202A-\u202E\u2066-\u2069]/g;

/** The text, or its beginning and an ellipsis where it has more characters than `most`. */
export function cut(text: string, most: number): string {
  const letters = [...text];
  return letters.length > most ? `${letters.slice(0, most).join("").trimEnd()} …` : text;
}

/** The text between the marks that isolate it, so that it cannot reorder the sentence that it stands in; cut where it is long. */
export function isolated(text: string): string {
  // Plain text needs no marks, and is easier to find and to copy without them.
  if (/^[ -~]*$/.test(text)) return cut(text, NAMED);
  return `\u2068${cut(text, NAMED).replace(REORDERING, "")}\u2069`;
}
