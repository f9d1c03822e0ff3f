/** The states that things can be in; in a file of their own, so that the command line loads them quickly. */

/** Whether the mail that tells a user of the account waits to be sent (uam user welcome). */
export const WELCOMES = ["pending", "sent"] as const;

/** What became of a key that was found when an account was adopted. */
export const FOUND_KEY_STATUSES = ["found", "stored", "dismissed"] as const;

/** Whether somebody inside answers for each user: nobody, whoever has one, or everybody needs one. */
export const SPONSOR_MODES = ["off", "optional", "required"] as const;

/** Which users have not accepted the terms of use: all of them, or those who were asked two weeks ago. */
export const TERMS = ["pending", "overdue"] as const;

export const USER_STATUSES = ["active", "disabled", "expired"] as const;
/**
 * Whether a user gets in now: `closed` is disabled or expired, the others are active users before their start, outside their hours, and who have
 * to ask first.
 */
export const ACCESS_STATES = ["open", "not_yet", "outside_hours", "on_request", "closed"] as const;
export type AccessState = (typeof ACCESS_STATES)[number];
/** Who allows access on request: the user's own fresh login, their sponsor, or a reviewer. */
export const REQUEST_RULES = ["self", "sponsor", "review"] as const;
export type RequestRule = (typeof REQUEST_RULES)[number];

/** What ends with a user's hours: sessions and logins, or only logins, so that what is open stays until the end of the account. */
export const HOURS_ENDS = ["sessions", "logins"] as const;
export type HoursEnd = (typeof HOURS_ENDS)[number];

export const KEY_STATUSES = ["active", "revoked"] as const;
export const APPROVAL_STATUSES = ["pending", "approved", "rejected"] as const;
/** The reason that is stored with a request, as a rejected one, that its user took back. */
export const WITHDRAWN = "Withdrawn";
/** The subject of an application: an account, more time for one, or access for some hours to one that has to ask. */
export const APPROVAL_KINDS = ["access", "extension", "access_request"] as const;
/** What an applicant's sponsor said: not asked, asked, that they answer for them, or that they do not. */
export const SPONSOR_ANSWERS = ["none", "asked", "vouched", "declined"] as const;
/** What sponsors are asked: whether they answer for applicants, whether the access of their people goes on, in a review, and access on request. */
export const QUESTION_KINDS = ["vouch", "end", "review", "access"] as const;

export type QuestionKind = (typeof QUESTION_KINDS)[number];

/**
 * The kinds of closings: access for now, the account for good, one key, some of the networks of keys, the time after an earlier end, the
 * account on the service's own host alone, what the account may do beyond its profile.
 */
export const CLOSING_KINDS = ["shut", "remove", "revoke", "narrow", "shorten", "leave", "profile"] as const;

/** What the accounts of a profile are for: anything, files, connections to targets, or one program. */
export const PROFILE_KINDS = ["shell", "sftp", "forward", "command"] as const;
/** What a login by key needs besides the key: nothing, or that the person is there and types the PIN of a hardware key. */
export const SECOND_FACTORS = ["none", "verified"] as const;
export const ATTESTATIONS = ["none", "required"] as const;

/** The roles of administrators; shared/product/roles.ts has their rights. */
export const ADMIN_ROLES = ["owner", "operator", "reviewer", "auditor"] as const;

export type AdminRole = (typeof ADMIN_ROLES)[number];

/** A machine's token: in use, past its end, or revoked before. */
export const TOKEN_STATUSES = ["active", "expired", "revoked"] as const;

/** A webhook receives records, or does not: an owner switched it off, or it accepted nothing for three days. */
export const WEBHOOK_STATUSES = ["active", "disabled"] as const;
/** The outcome of an attempt to deliver something to a webhook. */
export const DELIVERY_STATUSES = ["delivered", "failed"] as const;
/** The type of a message that only asks whether a webhook answers. */
export const PING = "webhook.ping";

/** The kinds of actors in the audit log, and the results. */
export const ACTOR_TYPES = ["admin", "user", "cli", "system", "anonymous", "token", "sponsor"] as const;
export const RESULTS = ["success", "failed"] as const;

/** How an administrator logged in. */
export const LOGIN_WAYS = ["password", "password+passkey", "password+totp", "passkey", "oidc"] as const;

export type LoginWay = (typeof LOGIN_WAYS)[number];

/** The service's own machine, or one with an agent. */
export const HOST_KINDS = ["local", "remote"] as const;
/** Open, shut as a whole, or about to be forgotten once its accounts are gone. */
export const HOST_STATUSES = ["active", "locked", "retiring"] as const;

/** Its users may have access, are losing it, or have none any more. */
export const COMPANY_STATUSES = ["active", "ending", "ended"] as const;

/** Whom a review is about: everybody, or the users of a company, of a group of hosts, or of a sponsor. */
export const REVIEW_SCOPES = ["all", "company", "host_group", "sponsor"] as const;
export const REVIEW_STATUSES = ["open", "closed"] as const;
/** What a review does on its day to whoever was not answered for. */
export const UNANSWERED_WAYS = ["disable", "report"] as const;
/** How an item of a review ended: as somebody answered, without an answer, or because the user had no access any more. */
export const REVIEW_ANSWERS = ["keep", "end", "shorten", "unanswered", "gone"] as const;
