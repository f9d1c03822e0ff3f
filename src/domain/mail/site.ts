/** Facts about the host, beyond the configuration, for mails that say how to connect. */

import type { ServerKey } from "../../protocol/host.ts";
import type { Services, Site } from "../operation/context.ts";

export interface SiteWithKeys extends Site {
  /** The host keys' fingerprints, `SHA256:… (ED25519)`; none where they are not known. */
  readonly hostKeys: readonly string[];
}

/** Never throws: a mail without fingerprints is better than none. */
export async function siteWithKeys(services: Pick<Services, "policy" | "host" | "log">): Promise<SiteWithKeys> {
  return { ...services.policy.site, hostKeys: (await knownServerKeys(services)).map(shownServerKey) };
}

/** The host's keys; none where they cannot be read, which is logged. */
export async function knownServerKeys({ host, log }: Pick<Services, "host" | "log">): Promise<readonly ServerKey[]> {
  try {
    return await host.hostKeys();
  } catch (error) {
    log.warn("the host keys cannot be read, so nobody is told them", { error });
    return [];
  }
}

/** The key as `ssh-keygen -l` and a client's first prompt show it: `SHA256:… (ED25519)`. */
export function shownServerKey({ type, fingerprint }: ServerKey): string {
  const name = type.startsWith("ecdsa-") ? "ECDSA" : type.replace(/^ssh-/, "").toUpperCase();
  return `${fingerprint} (${name})`;
}
