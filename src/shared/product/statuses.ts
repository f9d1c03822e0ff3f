/** The states that things can be in; separate from what stores them, so that the command line loads them quickly. */

export const USER_STATUSES = ["active", "disabled", "expired"] as const;
export const KEY_STATUSES = ["active", "revoked"] as const;
export const APPROVAL_STATUSES = ["pending", "approved", "rejected"] as const;
/** What is applied for: an account, or more time for one. */
export const APPROVAL_KINDS = ["access", "extension"] as const;
/**
 * What is taken away: access for now, the account for good, one key, some of the networks from where keys may be used, the account on the
 * service's own host alone.
 */
export const CLOSING_KINDS = ["shut", "remove", "revoke", "narrow", "leave"] as const;

/** What an administrator may do; shared/product/roles.ts says which of them may do what. */
export const ADMIN_ROLES = ["owner", "operator", "reviewer", "auditor"] as const;

export type AdminRole = (typeof ADMIN_ROLES)[number];

/** A machine's token: in use, past its end, or revoked before. */
export const TOKEN_STATUSES = ["active", "expired", "revoked"] as const;

/** A webhook is told of records, or is not: it was switched off, by an owner or because it took nothing for three days. */
export const WEBHOOK_STATUSES = ["active", "disabled"] as const;
/** What became of an attempt to deliver something to a webhook. */
export const DELIVERY_STATUSES = ["delivered", "failed"] as const;
/** The type of a message that only asks whether a webhook answers. */
export const PING = "webhook.ping";

/** Who can have done what the audit log records, and how it went. */
export const ACTOR_TYPES = ["admin", "user", "cli", "system", "anonymous", "token"] as const;
export const RESULTS = ["success", "failed"] as const;

/** How an administrator logged in. */
export const LOGIN_WAYS = ["password", "password+passkey", "password+totp", "passkey", "oidc"] as const;

export type LoginWay = (typeof LOGIN_WAYS)[number];

/** The service's own machine, or one with an agent. */
export const HOST_KINDS = ["local", "remote"] as const;
/** Open, shut as a whole, or about to be forgotten once its accounts are gone. */
export const HOST_STATUSES = ["active", "locked", "retiring"] as const;
