/** The names of the settings; separate from what stores them, so that the command line loads them quickly. */

export const SETTING_KEYS = ["policy.default_ttl", "policy.recycle_period", "policy.audit_retention"] as const;
export type SettingKey = (typeof SETTING_KEYS)[number];
