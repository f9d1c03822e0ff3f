/** Durations as the service writes them, such as "1d12h", in words. */

import { parseDuration } from "../../../../shared/time/duration.ts";
import type { settingsTexts } from "../../../texts/admin/settings.ts";

/** "1 day 12 hours"; a text that is no duration as it is. */
export function durationWords(value: string, { units }: Pick<typeof settingsTexts, "units">): string {
  const parts = [...value.matchAll(/(\d+)([dhms])/g)];
  if (parts.map(([part]) => part).join("") !== value || value === "") return value;
  return parts.map(([, amount, unit]) => units[unit as keyof typeof units](Number(amount))).join(" ");
}

/** Whether the service would read the text as a duration, or as off; which settings can be off, and its bounds, are the service's to know. */
export function isDuration(text: string): boolean {
  if (text === "off") return true;
  try {
    parseDuration(text);
    return true;
  } catch {
    return false;
  }
}
