/** Where browsers use passkeys. */

import ipaddr from "ipaddr.js";

/** The host that passkeys are for at that origin; undefined where browsers use none: at an address without a name, and without HTTPS. */
export function passkeyHost(origin: string): string | undefined {
  const { hostname, protocol } = new URL(origin);
  const isAddress = hostname.startsWith("[") || ipaddr.isValid(hostname);
  return !isAddress && (protocol === "https:" || hostname === "localhost") ? hostname : undefined;
}
