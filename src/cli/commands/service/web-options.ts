/** The part of the configuration that the HTTP side gets. */

import type { Config } from "../../../config/config.ts";
import type { WebOptions } from "../../../server/api/web.ts";

/** The options of the HTTP side, copied field by field: the configuration also holds secrets, which it must not get. */
export function webOptionsOf(
  config: Config,
  about: Pick<
    WebOptions,
    "version" | "runtime" | "observe" | "pages" | "logo" | "setupCommand" | "sso" | "sendWebhook"
  >,
): WebOptions {
  return {
    baseUrl: config.baseUrl,
    corsOrigins: config.corsOrigins,
    cookieSameSite: config.cookieSameSite,
    maxBody: config.maxBody,
    rateLimit: config.rateLimit,
    trustedProxies: config.trustedProxies,
    contact: config.contact,
    brand: config.brandName,
    logo: about.logo,
    dryRun: config.localHost && config.hostMode === "dry-run",
    version: about.version,
    runtime: about.runtime,
    observe: about.observe,
    pages: about.pages,
    setupCommand: about.setupCommand,
    sso: about.sso,
    captcha: config.captcha,
    sendWebhook: about.sendWebhook,
  };
}
