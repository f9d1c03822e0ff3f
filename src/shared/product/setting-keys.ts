/** The names of the settings; in a file of their own, so that the command line loads them quickly. */

export const SETTING_KEYS = ["policy.default_ttl", "policy.recycle_period", "policy.audit_retention"] as const;
export type SettingKey = (typeof SETTING_KEYS)[number];
