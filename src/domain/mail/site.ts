/** What a mail that says how to connect knows about the host, beyond the configuration. */

import type { Services, Site } from "../operation/context.ts";

export interface SiteWithKeys extends Site {
  /** The host keys' fingerprints, `SHA256:… (ED25519)`; none where they are not known. */
  readonly hostKeys: readonly string[];
}

/** Never throws: a mail without fingerprints is better than none. */
export async function siteWithKeys(services: Pick<Services, "policy" | "host" | "log">): Promise<SiteWithKeys> {
  const { policy, host, log } = services;
  try {
    return { ...policy.site, hostKeys: await host.hostKeys() };
  } catch (error) {
    log.warn("the host keys cannot be read, so mails do not name them", { error });
    return { ...policy.site, hostKeys: [] };
  }
}
