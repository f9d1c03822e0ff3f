/** Several names in one field. */

/** The names in a text, each once: one a line, or with commas or spaces between them. */
export function namesIn(text: string): readonly string[] {
  return [
    ...new Set(
      text
        .toLowerCase()
        .split(/[\s,]+/)
        .filter(Boolean),
    ),
  ];
}
