/** Limits that the API states and features enforce; in a file of their own, so that forms and the contract load them alone. */

/** Characters of a search for users. */
export const MAX_SEARCH = 128;
/** Code points of a passkey's name. */
export const MAX_PASSKEY_NAME = 64;
/** The longest time that may be asked for at once, in days. */
export const MAX_REQUESTED_DAYS = 365;
/** How many days a series of figures may have. */
export const SERIES_DAYS = { least: 7, most: 365, usual: 90 } as const;
