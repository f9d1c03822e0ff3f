/** One line of the log for each request that changes something or fails. */

import type { Log } from "../../shared/log.ts";
import { bearerOf, infoOf, shownBearerOf } from "./request.ts";
import { isSafe } from "./routing.ts";

/** Routes where guesses are made: their refusals are for tools that watch for guessing, such as fail2ban. */
const LOGINS = /\/auth\/(?:admin|otp)\/login$/;

interface Outcome {
  readonly status: number;
  readonly milliseconds: number;
}

/**
 * Logs a request that was answered: at `warn` a failed login and a token that was refused, at `info` what changes something or fails, at `debug` what
 * only reads. The route as registered stands for the path, which may hold anything.
 */
export function logRequest(log: Log, request: Request, { status, milliseconds }: Outcome): void {
  const { id, address, route } = infoOf(request);
  const { method } = request;
  const rounded = Math.round(milliseconds * 10) / 10;
  const fields = { requestId: id, method, route, status, address, milliseconds: rounded };
  if (method === "POST" && LOGINS.test(route) && (status === 401 || status === 429)) {
    log.warn("a login failed", fields);
  } else if (bearerOf(request) !== undefined && (status === 401 || status === 429)) {
    log.warn("a token was refused", { ...fields, token: shownBearerOf(request) ?? "" });
  } else if (!isSafe(method) || status >= 400) log.info("request", fields);
  else log.debug("request", fields);
}
