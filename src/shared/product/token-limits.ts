/** The limits of a token for a machine; in a file of their own, so that the console loads it alone. */

/** A year, and a day for a leap year. */
export const MAX_TOKEN_DAYS = 366;
/** Code points. */
export const MAX_TOKEN_NAME = 64;
