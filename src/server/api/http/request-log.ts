/** One line of the log for each request that changes something or fails. */

import type { Log } from "../../../shared/log.ts";
import type { Reason } from "../../../shared/product/reasons.ts";
import { bearerOf, infoOf, shownBearerOf } from "./request.ts";
import { isSafe } from "./routing.ts";

/** Wrong credentials, or too many of them: other routes ask people who are logged in already for theirs, too. */
const WRONG: ReadonlySet<string> = new Set<Reason>([
  ...(["login.wrong", "login.code_wrong", "login.passkey_wrong", "login.locked"] as const),
  ...(["code.wrong", "password.wrong"] as const),
]);

/** Of these the password was right; there is a record of its own. */
const RIGHT: ReadonlySet<string> = new Set<Reason>(["login.second_factor", "login.passkey_only"]);

interface Outcome {
  readonly status: number;
  /** As the answer names it. */
  readonly reason: string | null;
  readonly milliseconds: number;
}

/**
 * Logs a request that was answered: at `warn` a failed login and a token that was refused, at `info` what changes something or fails, at `debug` what
 * only reads. The route as registered stands for the path, which may hold anything.
 */
export function logRequest(log: Log, request: Request, { status, reason, milliseconds }: Outcome): void {
  const { id, address, route, entry } = infoOf(request);
  const { method } = request;
  const rounded = Math.round(milliseconds * 10) / 10;
  const fields = { requestId: id, method, route, status, address, milliseconds: rounded };
  const isDoor = entry?.isLogin === true && (status === 401 || status === 429);
  if ((isDoor && !RIGHT.has(reason ?? "")) || WRONG.has(reason ?? "")) {
    log.warn("a login failed", fields);
  } else if (bearerOf(request) !== undefined && (status === 401 || status === 429)) {
    log.warn("a token was refused", { ...fields, token: shownBearerOf(request) ?? "" });
  } else if (!isSafe(method) || status >= 400) log.info("request", fields);
  else log.debug("request", fields);
}
