/** The names of the settings; apart from what stores them, so that the command line loads them at once. */

export const SETTING_KEYS = ["policy.default_ttl", "policy.recycle_period", "policy.audit_retention"] as const;
export type SettingKey = (typeof SETTING_KEYS)[number];
