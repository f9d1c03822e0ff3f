/** Texts in commands that are printed for a shell. */

/** The text, quoted where necessary so that a shell takes it as one word. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_/.,:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
