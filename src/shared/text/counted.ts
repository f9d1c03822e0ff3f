/** Numbers in sentences. */

/** A number with its noun: "1 user", "2 users". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The names with commas; of more than `most`, the first, and how many more there are. */
export function namedUpTo(most: number, names: readonly string[]): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
