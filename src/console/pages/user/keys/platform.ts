/** Which system the reader has, to show its commands first; a guess, so the others are shown too. */

export type Platform = "unix" | "windows";

/** By what the browser says of itself; whatever is not Windows is taken for a Unix. */
export function platformOf(agent: string): Platform {
  return /windows|win32|win64/i.test(agent) ? "windows" : "unix";
}
