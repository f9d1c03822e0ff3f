/** Checks the proxies that may report a client's address. */

import { networkInterfaces } from "node:os";
import { clientAddress, parseTrustedProxies } from "../shared/net/client-address.ts";
import { areaOf, type Finding } from "./finding.ts";

/** Of TEST-NET-1: nobody's. */
const ANYBODY = "192.0.2.1";

/**
 * A note where addresses of this host are trusted proxies over TCP: everybody who is logged in here has those addresses too, and the users whose
 * accounts the service keeps are.
 */
export function checkProxies(
  address: string,
  proxies: readonly string[],
  own: readonly string[] = ownAddresses(),
): readonly Finding[] {
  const trusted = parseTrustedProxies(proxies);
  const believed = own.filter((one) => clientAddress(one, ANYBODY, trusted) === ANYBODY);
  if (address.startsWith("unix:") || believed.length === 0) return [];
  const finding = `UAM_TRUSTED_PROXIES names this host (${believed[0]}): whoever is logged in here, external users too, can give any address as theirs, for limits, for the networks of tokens and in the audit log`;
  const remedy =
    "UAM_LISTEN=unix:/run/uam/uam.sock and UAM_TRUSTED_PROXIES=unix, with the socket in the proxy's group (see docs/proxies.md)";
  return [areaOf("proxy").note(finding, remedy)];
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
}
