/** What bounds a token for a machine; separate from what makes them, so that the console loads it alone. */

/** A year, and a day for a leap year. */
export const MAX_TOKEN_DAYS = 366;
/** Code points. */
export const MAX_TOKEN_NAME = 64;
