/** Text that somebody typed, within a sentence that is itself a text. */

/** Longer than this it is cut: a sentence is to be read. */
const NAMED = 100;

/** The text between the marks that isolate it (UAX #9) if it needs them, and cut if it is long. */
export function isolated(text: string): string {
  const letters = [...text];
  const shown = letters.length > NAMED ? `${letters.slice(0, NAMED).join("")} …` : text;
  if (/^[ -~]*$/.test(shown)) return shown;
  return `\u2068${shown.replace(/[\u2066-\u2069\u202A-\u202E]/g, "")}\u2069`;
}
