/** Whether an error comes from the loss of the database, as its driver says it. */

/** What a connection ends with that was there, or cannot be made now. Not every system call's: those of the host are none of it. */
const LOST_CODES =
  /^(ECONN[A-Z]+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|CONNECT_TIMEOUT|CONNECTION_[A-Z]+|08\w{3}|57P\d\d|25006)$/;

/** True if `error` comes from a database that went away, or that takes no changes any more; a moment later there may be one. */
export function isDatabaseLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return (
    LOST_CODES.test(code) || (code === "ENOENT" && /^connect\b/.test(error.message)) || isDatabaseLost(error.cause)
  );
}
