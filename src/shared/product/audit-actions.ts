/** The audit log's vocabulary: every audit action, and the kinds of resources the records name. */

export const RESOURCE_TYPES = [
  "user",
  "ssh_key",
  "setting",
  "admin",
  "token",
  "webhook",
  "host",
  "host_group",
  "fleet",
  "company",
  "review",
  "profile",
] as const;

export type ResourceType = (typeof RESOURCE_TYPES)[number];

/**
 * The meaning of a record for further hosts. "user" may change access on the hosts of its subject, "new user" gives them the first ones, and
 * "removal" concerns hosts that they no longer have, too. "host", "group" and "profile" have the host, the group's members, or the hosts where
 * somebody has the profile, told everything anew, and "all" every host.
 */
export type HostEffect = "none" | "user" | "new user" | "removal" | "host" | "group" | "profile" | "all";

/**
 * Every audit action, with the kind of resource that its records are about ("" if they name none), and what they mean for hosts. Lists find
 * records by their actions, so every action that was ever recorded has to stay here.
 */
const ACTIONS = {
  "auth.admin_login": ["", "none"],
  "auth.admin_password_only": ["", "none"],
  "auth.changes_refused": ["", "none"],
  "auth.otp_send": ["", "none"],
  "auth.otp_login": ["", "none"],
  "auth.logout": ["", "none"],
  "auth.sso_logout": ["", "none"],
  "auth.admin_forgot": ["", "none"],
  "auth.admin_reset": ["", "none"],
  "auth.admin_password": ["", "none"],
  "auth.passkey_add": ["", "none"],
  "auth.passkey_rename": ["", "none"],
  "auth.passkey_remove": ["", "none"],
  "auth.totp_add": ["", "none"],
  "auth.totp_remove": ["", "none"],
  "user.create": ["user", "new user"],
  "user.update": ["user", "user"],
  "user.disable": ["user", "user"],
  "user.enable": ["user", "user"],
  "user.extend": ["user", "user"],
  "user.shorten": ["user", "user"],
  "user.delete": ["user", "removal"],
  "user.lock": ["user", "user"],
  "user.export": ["user", "none"],
  "user.adopt": ["user", "user"],
  "user.give_back": ["user", "removal"],
  "user.welcome": ["user", "none"],
  "user.terms": ["user", "none"],
  "extension.request": ["user", "none"],
  "extension.withdraw": ["user", "none"],
  "session.end": ["user", "none"],
  "user.end_sessions": ["user", "user"],
  "key.create": ["ssh_key", "user"],
  "key.confirm": ["ssh_key", "user"],
  "key.dismiss": ["user", "none"],
  "key.rename": ["ssh_key", "none"],
  "key.update": ["ssh_key", "user"],
  "key.revoke": ["ssh_key", "user"],
  "approval.submit": ["", "none"],
  "approval.review": ["", "none"],
  "settings.update": ["setting", "none"],
  "lifecycle.expire": ["user", "user"],
  "lifecycle.recycle": ["user", "removal"],
  "access.window": ["user", "user"],
  "access.request": ["user", "none"],
  "access.allow": ["user", "user"],
  "access.refuse": ["user", "none"],
  "access.end": ["user", "user"],
  "admin.create": ["admin", "none"],
  "admin.update": ["admin", "none"],
  "admin.remove": ["admin", "none"],
  "admin.readmit": ["", "none"],
  "admin.end_sessions": ["admin", "none"],
  "token.create": ["token", "none"],
  "token.revoke": ["token", "none"],
  "webhook.create": ["webhook", "none"],
  "webhook.update": ["webhook", "none"],
  "webhook.delete": ["webhook", "none"],
  "reconcile.repair": ["user", "user"],
  "audit.purge": ["", "none"],
  "audit.export": ["", "none"],
  "audit.read": ["", "none"],
  "service.backup": ["", "none"],
  "service.restore": ["", "none"],
  "host.enrol": ["host", "none"],
  "host.lock": ["host", "host"],
  "host.unlock": ["host", "host"],
  "host.update": ["host", "host"],
  "host.retire": ["host", "host"],
  "host.forget": ["host", "none"],
  "host.rotate": ["host", "none"],
  "host.drift": ["host", "none"],
  "host.hold": ["host", "none"],
  "host_token.create": ["host", "none"],
  "host_group.create": ["host_group", "group"],
  "host_group.update": ["host_group", "group"],
  "host_group.delete": ["host_group", "group"],
  "user.grant": ["user", "removal"],
  "fleet.confirmed": ["fleet", "none"],
  "fleet.diverged": ["fleet", "none"],
  "fleet.accept": ["fleet", "all"],
  "company.create": ["company", "none"],
  "company.update": ["company", "none"],
  "company.delete": ["company", "none"],
  "company.end": ["company", "none"],
  "company.resume": ["company", "none"],
  "profile.create": ["profile", "none"],
  "profile.update": ["profile", "profile"],
  "profile.delete": ["profile", "none"],
  "review.start": ["review", "none"],
  "review.answer": ["review", "none"],
  "review.unanswered": ["review", "none"],
  "review.close": ["review", "none"],
  "sponsor.vouch": ["", "none"],
  "sponsor.decline": ["", "none"],
  "sponsor.end": ["user", "user"],
  "sponsor.move": ["", "none"],
} as const satisfies Readonly<Record<string, readonly [ResourceType | "", HostEffect]>>;

export type AuditAction = keyof typeof ACTIONS;

export const AUDIT_ACTIONS: readonly AuditAction[] = Object.keys(ACTIONS) as AuditAction[];

/** Whether this version knows the action. */
export function isAuditAction(text: string): text is AuditAction {
  return Object.hasOwn(ACTIONS, text);
}

/** The kind of resource that records of the action are about; "" if they name none. */
export function resourceTypeOf(action: AuditAction): ResourceType | "" {
  return ACTIONS[action][0];
}

/** The meaning of the action's records for hosts: "user" for an unknown one, because it may take access away. */
export function hostEffectOf(action: string): HostEffect {
  return isAuditAction(action) ? ACTIONS[action][1] : "user";
}
