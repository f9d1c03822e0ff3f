/** Limits for each client address on the routes that anyone may call; kept in memory. */

import ipaddr from "ipaddr.js";
import { UamError } from "../../../shared/errors.ts";
import { type Clock, HOUR, MINUTE } from "../../../shared/time/clock.ts";

export type LimitKind =
  | "captcha"
  | "code"
  | "login"
  | "forgot"
  | "application"
  | "token"
  | "sso"
  | "logout"
  | "passkey"
  | "agent"
  | "join"
  | "decision";

export interface RateLimits {
  /**
   * Counts one request of that kind against the address (an IPv6 address: against its /64). Throws `limited`, with the whole
   * seconds until the next is allowed, if the kind's limit is used up within the period that ends now; a refused request is not
   * counted.
   */
  take(kind: LimitKind, address: string): void;
}

interface Limit {
  readonly most: number;
  readonly period: number;
  /** Names the counted thing, for the message. */
  readonly what: string;
}

/**
 * `login` counts the logins of users and administrators together, `token` only unknown tokens, `agent` only requests that no host signed; a login by single
 * sign-on is two requests.
 */
const LIMITS: Readonly<Record<LimitKind, Limit>> = {
  captcha: { most: 30, period: MINUTE, what: "captchas" },
  code: { most: 30, period: HOUR, what: "one-time codes" },
  login: { most: 60, period: HOUR, what: "login attempts" },
  forgot: { most: 10, period: HOUR, what: "password resets" },
  application: { most: 10, period: HOUR, what: "applications" },
  token: { most: 60, period: HOUR, what: "wrong tokens" },
  sso: { most: 120, period: HOUR, what: "logins by single sign-on" },
  logout: { most: 60, period: HOUR, what: "wrong logout tokens" },
  passkey: { most: 30, period: MINUTE, what: "passkey challenges" },
  // Many hosts may be behind one address.
  agent: { most: 600, period: HOUR, what: "requests that no host signed" },
  join: { most: 600, period: HOUR, what: "attempts to join a host" },
  decision: { most: 120, period: HOUR, what: "requests about questions to sponsors" },
};

/** Addresses remembered for each kind; beyond that, the longest quiet ones are forgotten. A full table takes about 10 MB. */
export const MAX_ADDRESSES = 20_000;

/** Limits that start empty, and end with the process; none at all unless `enabled`. */
export function createRateLimits({ enabled, clock }: { readonly enabled: boolean; readonly clock: Clock }): RateLimits {
  if (!enabled) return { take() {} };
  const windows: Readonly<Record<LimitKind, Window>> = {
    captcha: new Map(),
    code: new Map(),
    login: new Map(),
    forgot: new Map(),
    application: new Map(),
    token: new Map(),
    sso: new Map(),
    logout: new Map(),
    passkey: new Map(),
    agent: new Map(),
    join: new Map(),
    decision: new Map(),
  };
  return {
    take(kind, address) {
      takeFrom(windows[kind], LIMITS[kind], { client: clientOf(address), now: clock.now().getTime() });
    },
  };
}

/** The times of each client's counted requests, oldest first; the longest quiet client is first in the map. */
type Window = Map<string, readonly number[]>;

function takeFrom(
  window: Window,
  limit: Limit,
  { client, now }: { readonly client: string; readonly now: number },
): void {
  const isCounted = (at: number): boolean => at > now - limit.period && at <= now;
  const recent = (window.get(client) ?? []).filter(isCounted);
  const oldest = recent[recent.length - limit.most];
  if (oldest !== undefined) {
    const retryAfter = Math.max(1, Math.ceil((oldest + limit.period - now) / 1000));
    throw new UamError("limited", `Too many ${limit.what} from this address; try again in ${retryAfter} seconds`, {
      retryAfter,
    });
  }
  window.delete(client);
  window.set(client, [...recent, now]);
  forget(window, isCounted);
}

/** Drops expired clients and those over the cap, beginning with the quietest. */
function forget(window: Window, isCounted: (at: number) => boolean): void {
  for (const [client, times] of window) {
    const last = times.at(-1);
    if (window.size <= MAX_ADDRESSES && last !== undefined && isCounted(last)) return;
    window.delete(client);
  }
}

/** One subscriber: an IPv4 address, or the /64 that RFC 6177 gives to a single network. */
function clientOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv4" ? parsed.toString() : parsed.toByteArray().slice(0, 8).join(".");
}
