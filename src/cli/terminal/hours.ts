/** Hours of the week as an argument. */

import type { Hours } from "../../shared/hours/hours.ts";

/** The hours of a text; null for "always". Throws `invalid`. Zones bring tables with them that stay: loaded when they are needed. */
export async function readHours(text: string): Promise<Hours | null> {
  if (text === "always") return null;
  const { parseHours } = await import("../../shared/hours/text.ts");
  return parseHours(text);
}
