/** A browser that logs in by single sign-on: it follows redirects between the application and its provider, with a cookie jar for each. */

import type { App } from "../../src/server/api/app.ts";
import type { TestApp } from "./app.ts";

export const APP = "http://127.0.0.1:8080";
export const CALLBACK = `${APP}/api/v1/auth/oidc/callback`;

/** One step: where it went, and what came. */
export interface Step {
  readonly url: string;
  readonly status: number;
  readonly setCookies: readonly string[];
}

export interface Browser {
  /** By origin; what a test may change. */
  readonly jars: Map<string, Map<string, string>>;
  readonly steps: Step[];
  /** Gets one page, without following where it leads. */
  get(url: string): Promise<Response>;
  /** Follows redirects until there are none, or the next address satisfies `stop`; returns the last address. */
  follow(url: string, stop?: (url: string) => boolean): Promise<string>;
  /** Begins a login and follows it to its end: the page that it leads to, as path and query. */
  login(next?: string): Promise<string>;
  /** The session's user as the API says, or the status. */
  me(): Promise<unknown>;
}

/** A new browser, of an application in this process, or of one that answers over HTTP at that origin. */
export function openBrowser(target: { readonly app: Pick<App, "fetch"> } | { readonly origin: string }): Browser {
  const own = "origin" in target ? target.origin : APP;
  const jars = new Map<string, Map<string, string>>();
  const steps: Step[] = [];

  function jarOf(url: string): Map<string, string> {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  }

  async function get(url: string): Promise<Response> {
    const jar = jarOf(url);
    const headers = { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") };
    const isInside = "app" in target && new URL(url).origin === own;
    const response = isInside
      ? await target.app.fetch(new Request(url, { headers }), "192.0.2.1")
      : await fetch(url, { headers, redirect: "manual" });
    for (const set of response.headers.getSetCookie()) {
      const [pair = ""] = set.split(";");
      const at = pair.indexOf("=");
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(set)) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    steps.push({ url, status: response.status, setCookies: response.headers.getSetCookie() });
    return response;
  }

  async function follow(url: string, stop: (url: string) => boolean = () => false): Promise<string> {
    let at = url;
    for (let left = 20; left > 0; left--) {
      if (stop(at) || at.startsWith(`${own}/login`)) return at;
      const response = await get(at);
      const location = response.headers.get("location");
      if (location === null) throw new Error(`${at}: ${response.status} ${await response.text()}`);
      await response.body?.cancel();
      at = new URL(location, at).href;
    }
    throw new Error("too many redirects");
  }

  return {
    jars,
    steps,
    get,
    follow,
    login: async (next) => {
      const query = next === undefined ? "" : `?next=${encodeURIComponent(next)}`;
      const end = await follow(`${own}/api/v1/auth/oidc/login${query}`);
      return end.slice(own.length);
    },
    me: async () => {
      const response = await get(`${own}/api/v1/auth/me`);
      return response.status === 200 ? ((await response.json()) as { data: unknown }).data : response.status;
    },
  };
}

/** The variables of an application with that provider. */
export function ssoVariables(issuer: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    UAM_OIDC_ISSUER: issuer,
    UAM_OIDC_CLIENT_ID: "uam",
    UAM_OIDC_CLIENT_SECRET: "a secret of the client's",
    UAM_OIDC_ROLES: "groups:uam-owners=owner,groups:ops=operator,groups:readers=auditor",
    UAM_OIDC_SCOPE: "openid profile email groups",
    ...more,
  };
}

/** Sets the application's clock, which stands still, to the system's, which the provider has. */
export function meetClock(app: TestApp): void {
  app.clock.set(new Date());
}
