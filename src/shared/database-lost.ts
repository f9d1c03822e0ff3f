/**
 * Whether an error comes from the loss of the database, or from a database without room, judged by the driver's error.
 */

/**
 * Error codes of a lost connection, or of one that cannot be made now. Does not match every system call's error: the host's are not
 * among them.
 */
const LOST_CODES =
  /^(ECONN[A-Z]+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|CONNECT_TIMEOUT|CONNECTION_[A-Z]+|08\w{3}|57P\d\d|25006|53300)$/;

/** True if `error` comes from a database that went away, or that no longer takes changes; a moment later there may be one. */
export function isDatabaseLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return (
    LOST_CODES.test(code) || (code === "ENOENT" && /^connect\b/.test(error.message)) || isDatabaseLost(error.cause)
  );
}

/** The message for a change that was not made because the database's disk is full. */
export const DATABASE_FULL =
  "Nothing was changed: the disk of the database is full. Whoever runs this service has to make room on it.";

/** True if `error` comes from a database whose disk is full: it answers, and can change nothing until somebody makes room. */
export function isDatabaseFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return codeOf(error) === DISK_FULL || isDatabaseFull(error.cause);
}

const DISK_FULL = "53100";

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
