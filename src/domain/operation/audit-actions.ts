/** What is recorded: every audit action, and the kinds of resources the records name. */

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
] as const;

export type ResourceType = (typeof RESOURCE_TYPES)[number];

/**
 * Every audit action there is, with the kind of resource that its records are about; "" where they name none. Lists find
 * records by their actions, so one that was ever recorded has to stay here.
 */
export const RESOURCE_TYPE_OF = {
  "auth.admin_login": "",
  "auth.admin_password_only": "",
  "auth.otp_send": "",
  "auth.otp_login": "",
  "auth.logout": "",
  "auth.sso_logout": "",
  "auth.admin_forgot": "",
  "auth.admin_reset": "",
  "auth.admin_password": "",
  "auth.passkey_add": "",
  "auth.passkey_rename": "",
  "auth.passkey_remove": "",
  "auth.totp_add": "",
  "auth.totp_remove": "",
  "user.create": "user",
  "user.update": "user",
  "user.disable": "user",
  "user.enable": "user",
  "user.extend": "user",
  "user.delete": "user",
  "user.lock": "user",
  "extension.request": "user",
  "session.end": "user",
  "key.create": "ssh_key",
  "key.rename": "ssh_key",
  "key.update": "ssh_key",
  "key.revoke": "ssh_key",
  "approval.submit": "",
  "approval.review": "",
  "settings.update": "setting",
  "lifecycle.expire": "user",
  "lifecycle.recycle": "user",
  "admin.create": "admin",
  "admin.update": "admin",
  "admin.remove": "admin",
  "admin.readmit": "",
  "admin.end_sessions": "admin",
  "token.create": "token",
  "token.revoke": "token",
  "webhook.create": "webhook",
  "webhook.update": "webhook",
  "webhook.delete": "webhook",
  "reconcile.repair": "user",
  "audit.purge": "",
  "service.backup": "",
  "service.restore": "",
  "host.enrol": "host",
  "host.lock": "host",
  "host.unlock": "host",
  "host.update": "host",
  "host.retire": "host",
  "host.forget": "host",
  "host.rotate": "host",
  "host.drift": "host",
  "host.hold": "host",
  "host_token.create": "host",
  "host_group.create": "host_group",
  "host_group.update": "host_group",
  "host_group.delete": "host_group",
  "user.grant": "user",
  "fleet.confirmed": "fleet",
  "fleet.diverged": "fleet",
  "fleet.accept": "fleet",
} as const satisfies Readonly<Record<string, ResourceType | "">>;

export type AuditAction = keyof typeof RESOURCE_TYPE_OF;

export const AUDIT_ACTIONS: readonly AuditAction[] = Object.keys(RESOURCE_TYPE_OF) as AuditAction[];
