/** Whether an error comes from the loss of the database, or from a database without room, as its driver says it. */

/** What a connection ends with that was there, or cannot be made now. Not every system call's: those of the host are none of it. */
const LOST_CODES =
  /^(ECONN[A-Z]+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|CONNECT_TIMEOUT|CONNECTION_[A-Z]+|08\w{3}|57P\d\d|25006|53300)$/;

/** True if `error` comes from a database that went away, or that takes no changes any more; a moment later there may be one. */
export function isDatabaseLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  return (
    LOST_CODES.test(code) || (code === "ENOENT" && /^connect\b/.test(error.message)) || isDatabaseLost(error.cause)
  );
}

/** What to say of a change that was not made because the database's disk is full. */
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
