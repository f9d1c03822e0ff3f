/** The cookie that a session is known by. */

export const SESSION_COOKIE = "__Host-uam_session";

const COOKIE = new RegExp(`(?:^|;\\s*)${SESSION_COOKIE}=([A-Za-z0-9_-]{43})(?:;|$)`);

/** The session token that the request carries, or undefined. */
export function tokenOf(request: Request): string | undefined {
  return COOKIE.exec(request.headers.get("cookie") ?? "")?.[1];
}
