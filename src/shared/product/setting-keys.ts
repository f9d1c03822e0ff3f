/** The names of the settings; in a file of their own, so that the command line loads them quickly. */

import { formatDuration } from "../time/duration.ts";

export const SETTING_KEYS = [
  ...(["policy.default_ttl", "policy.recycle_period", "policy.audit_retention"] as const),
  ...(["policy.review_every", "policy.inactive_after"] as const),
] as const;
export type SettingKey = (typeof SETTING_KEYS)[number];

/** What a setting that can be off is set to for that. */
export const OFF = "off";

/** The value as text; 0 is off. */
export function settingText(milliseconds: number): string {
  return milliseconds === 0 ? OFF : formatDuration(milliseconds);
}
