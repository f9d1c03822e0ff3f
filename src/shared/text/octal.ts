/** Permissions as people read them. */

/** The permission bits of a mode (stat(2)) as four octal digits: `0644`. */
export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}
