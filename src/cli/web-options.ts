/** What the HTTP side is given of the configuration. */

import type { Config } from "../config/config.ts";
import type { WebOptions } from "../server/api/web.ts";

/** What the HTTP side follows, out of the configuration: field by field, for it holds secrets that are none of its. */
export function webOptionsOf(config: Config, about: Pick<WebOptions, "version" | "runtime" | "observe">): WebOptions {
  return {
    baseUrl: config.baseUrl,
    corsOrigins: config.corsOrigins,
    cookieSameSite: config.cookieSameSite,
    maxBody: config.maxBody,
    rateLimit: config.rateLimit,
    trustedProxies: config.trustedProxies,
    contact: config.contact,
    version: about.version,
    runtime: about.runtime,
    observe: about.observe,
  };
}
