/** Numbers in sentences. */

/** A number with its noun: "1 user", "2 users". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
