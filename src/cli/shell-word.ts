/** Texts in commands that are printed for a shell. */

/** The text as a shell has to be given it to take it as one word. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_/.,:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
