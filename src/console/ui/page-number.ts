/** Which page of a list an address names. */

/** The number of the page; 1 for anything that is none. */
export function pageOf(text: string | undefined): number {
  return /^[1-9]\d{0,8}$/.test(text ?? "") ? Number(text) : 1;
}
