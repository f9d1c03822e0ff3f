/**
 * The shape of a route in the contract. Guard, parser, validation, document and the types of clients are made from it.
 */

import type * as v from "valibot";
import type { AuditAction } from "../shared/product/audit-actions.ts";
import { EXPORT_FORMATS, MEDIA_TYPES } from "../shared/product/export-formats.ts";
import type { Reason } from "../shared/product/reasons.ts";
import type { LeastRole } from "../shared/product/roles.ts";

/** A schema of an object, such as a query's. */
export type ObjectSchema = v.GenericSchema & { readonly entries: Readonly<Record<string, v.GenericSchema>> };

/** Rate-limited operations for each client address; the rates are in domain/auth/sessions/rate-limits.ts. */
export type AnonymousLimit = "captcha" | "code" | "login" | "forgot" | "application" | "passkey" | "join" | "decision";

/** Anyone, as often as the limit allows; without one the route counts by itself, or costs nothing. */
export interface Anyone {
  readonly permission: "public";
  readonly limit?: AnonymousLimit;
}

/**
 * The requirements of a route for its caller: the kind of session, and the role of an administrator; or an agent's
 * signature.
 */
export interface Need {
  /** `session` is either kind of session. */
  readonly permission: "session" | "user" | "admin" | "agent";
  /** The least role that may change something here. */
  readonly least?: LeastRole;
  /** Whether it takes a session only, and no token: logins, and operations that let somebody in as an administrator. */
  readonly sessionOnly?: boolean;
  /** Whether it is open to administrators who still have to set up a second factor. */
  readonly setsUp?: boolean;
}

/** The permitted callers of a route. */
export type Who = Anyone | Need;

export type FailureStatus = 400 | 401 | 403 | 404 | 409 | 429 | 500 | 503;

/** Failures by status: a meaning here, or `true` for the general meaning. */
export type Refusals = Readonly<Partial<Record<FailureStatus, string | true>>>;

/** A success that is more than its answer as JSON. */
export interface Success {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, { readonly schema: { readonly type: "string" } }>>;
}

export interface Route {
  /** The operation's name in generated clients. */
  readonly operationId?: string;
  /** Its purpose, in one line. */
  readonly summary: string;
  readonly description?: string;
  readonly who: Who;
  readonly params?: ObjectSchema;
  readonly query?: ObjectSchema;
  readonly body?: v.GenericSchema;
  /** How the body comes, unless as JSON that has to be there: JSON or nothing, a form, JSON of an agent, a file. */
  readonly bodyAs?: "optional" | "form" | "agent" | "csv";
  /** Bytes of the body, where a route needs more than others. */
  readonly bodyLimit?: number;
  /** 200 if undefined. */
  readonly status?: 201 | 303;
  /** Besides, 202 with the same kind of answer: it waits for somebody's decision. Then `success` has to be there. */
  readonly mayWait?: true;
  /** The content of `data` after success; with `isBare`, the whole body. */
  readonly answer?: v.GenericSchema;
  readonly isBare?: true;
  /** The media types that `Accept` can ask for instead of JSON. */
  readonly alsoAs?: readonly string[];
  /** The handler then gets a `reply`, to set cookies and headers. */
  readonly success?: Success;
  /** Besides the refusals that follow from parameters, bodies, permission, origin and limits. */
  readonly refusals?: Refusals;
  /** The status of the operation's failures that are not in `refusals`; the law has one status for all of them. */
  readonly otherwise?: 400 | 404 | 500;
  /** The reasons of the operation's failures, besides those that follow from the rest of the entry (reasons/reasons-of.ts). */
  readonly reasons?: readonly Reason[];
  /** The operation's action, for a session's request that is refused for its content before the operation begins. */
  readonly records?: AuditAction;
  /** It takes back what was given before: external users may do it however much they have changed. */
  readonly onlyTakesAway?: true;
  /** Its refusals are for tools that watch for guessing, such as fail2ban. */
  readonly isLogin?: true;
  /** Caches may keep the answer, which names nobody. */
  readonly isCacheable?: true;
}

/** Routes by method and path, such as "GET /users/:id". */
export type Routes = Readonly<Record<string, Route>>;

/** The session cookie is set, or cleared. */
export const COOKIE_SET = {
  description: "Done",
  headers: { "Set-Cookie": { schema: { type: "string" } } },
} as const satisfies Success;

/** A file, in one of the formats. */
export const FILE_SENT = {
  description:
    "The file. Of CSV the first line names the columns, which are the fields of a record; JSON lines are the records",
  headers: { "Content-Disposition": { schema: { type: "string" } } },
  content: Object.fromEntries(EXPORT_FORMATS.map((format) => [MEDIA_TYPES[format], { schema: { type: "string" } }])),
} as const satisfies Success;

/** The description that all exports share. */
export const EXPORTED =
  "UTF-8; CSV has a byte order mark. In CSV an apostrophe goes before text that a spreadsheet would take for a formula. It is on record before it begins.";

/** The failures of an export. */
export const EXPORT_REFUSALS = {
  429: "Two exports are already running; Retry-After says when to try again",
  500: "The query, or its record, failed before the file began. A failure after that ends the file early",
} as const satisfies Refusals;

/** The host does not do it, or its account is not as the service made it: of changes that need an account there. */
export const ACCOUNT: readonly Reason[] = ["account.missing", "account.foreign", "account.group", "host.refused"];

/** The profile is none, or not one that the account can have. */
export const PROFILE: readonly Reason[] = ["profile.missing", "profile.mode", "profile.incomparable"];

/** The same where an account is made. */
export const NEW_ACCOUNT: readonly Reason[] = [...ACCOUNT, "account.taken"];

/** A user's end cannot be moved. */
export const EXTENDED: readonly Reason[] = [
  ...([
    "user.missing",
    "user.deleting",
    "user.disabling",
    "user.shortening",
    "user.recycled",
    "user.too_late",
  ] as const),
  ...(["company.ended", "company.limit"] as const),
];

/** A sponsor is missing where one is required, or cannot be the user's. */
export const SPONSOR: readonly Reason[] = ["sponsor.missing", "sponsor.invalid"];

/** The user's company does not allow it. */
export const COMPANY: readonly Reason[] = ["company.missing", "company.full", "company.ended", "company.limit"];

export const anyone = { permission: "public" } as const;
export const agents = { permission: "agent" } as const;
/** Administrators and external users. */
export const loggedIn = { permission: "session" } as const;
/** The same, without tokens. */
export const ownLogin = { permission: "session", sessionOnly: true } as const;
export const externalUsers = { permission: "user" } as const;
/** Administrators of any role. */
export const admins = { permission: "admin", least: "any" } as const;
export const reviewers = { permission: "admin", least: "reviewer" } as const;
export const operators = { permission: "admin", least: "operator" } as const;
export const owners = { permission: "admin", least: "owner" } as const;
/** Owners, and no tokens: a machine cannot confirm who asks. */
export const ownersThemselves = { permission: "admin", least: "owner", sessionOnly: true } as const;
/** Administrators and no tokens: operations on their own logins. */
export const adminsThemselves = { permission: "admin", least: "any", sessionOnly: true } as const;
/** The same, before a second factor is set up. */
export const adminsSettingUp = { permission: "admin", least: "any", sessionOnly: true, setsUp: true } as const;

/** Anyone, as often as the limit allows. */
export function anyoneWithin(limit: AnonymousLimit) {
  return { permission: "public", limit } as const;
}
