/** Limits that the API states and features enforce; in a file of their own, so that forms and the contract load them alone. */

/** Characters of a search, for users or in the audit log. */
export const MAX_SEARCH = 128;
/** Audit records that one search looks through: nobody waits long for it, and the database works for nobody long. */
export const MOST_SEARCHED = 20_000;
/** Code points of a passkey's name. */
export const MAX_PASSKEY_NAME = 64;
/** The longest time that may be asked for at once, in days. */
export const MAX_REQUESTED_DAYS = 365;
/** How many days a series of figures may have. */
export const SERIES_DAYS = { least: 7, most: 365, usual: 90 } as const;
/** Keys that were found in an account, in one answer to them. */
export const MOST_FOUND_KEYS = 100;
/** Users in one file that is imported. */
export const MAX_IMPORT_LINES = 10_000;
/** Bytes of it. */
export const MAX_IMPORT_BYTES = 5 * 1024 * 1024;
/** Faults of it that are said one by one. */
export const MAX_IMPORT_FAULTS = 100;
/** Code points of a company's name. */
export const MAX_COMPANY_NAME = 128;
/** More than any company's `max_users`. */
export const MOST_COMPANY_USERS = 1_000_000;
/** Days that there are to answer in a review, and how many later than its day an administrator may let one answer come. */
export const MOST_REVIEW_DAYS = 365;
export const MOST_GRACE_DAYS = 7;
/** Answers in one request. */
export const MOST_ANSWERS = 1000;
