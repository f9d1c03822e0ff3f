/** What is recorded: every audit action, and the kinds of resources the records name. */

/** Every audit action there is. */
export const AUDIT_ACTIONS = [
  "auth.admin_login",
  "auth.otp_send",
  "auth.otp_login",
  "auth.logout",
  "auth.admin_forgot",
  "auth.admin_reset",
  "user.create",
  "user.update",
  "user.disable",
  "user.enable",
  "user.extend",
  "user.delete",
  "key.create",
  "key.rename",
  "key.revoke",
  "approval.submit",
  "approval.review",
  "settings.update",
  "lifecycle.expire",
  "lifecycle.recycle",
] as const;

export const RESOURCE_TYPES = ["user", "ssh_key", "setting"] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];
export type ResourceType = (typeof RESOURCE_TYPES)[number];
