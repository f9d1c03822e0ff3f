/** The client of a request behind proxies. */

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { UamError } from "../errors.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [network: Address, prefix: number];

/** The proxies that may set X-Forwarded-For. */
export interface TrustedProxies {
  /** Whether peers on the service's own unix socket are among them. */
  readonly unix: boolean;
  readonly ranges: readonly Range[];
}

/** Stands for the address of a peer on a unix socket that no trusted proxy speaks for. */
export const UNIX_PEER = "unix";

/**
 * Reads addresses (`10.0.0.1`), ranges (`10.0.0.0/8`, `fd00::/8`) and the word `unix`. Throws `invalid` with the first entry that
 * is none of these.
 */
export function parseTrustedProxies(list: readonly string[]): TrustedProxies {
  const entries = list.map((entry) => entry.trim()).filter((entry) => entry !== "");
  return {
    unix: entries.includes("unix"),
    ranges: entries.filter((entry) => entry !== "unix").map(parseRange),
  };
}

/**
 * The client's address in its canonical form, IPv4 where it is IPv4-mapped IPv6: the last entry of X-Forwarded-For (read from the
 * right) that a trusted proxy vouches for, else the peer's own. `peer` is undefined on a unix socket; `unix` stands for it.
 */
export function clientAddress(peer: string | undefined, forwardedFor: string | null, trusted: TrustedProxies): string {
  // The usual case: no proxy, and IPv4, which has one spelling only.
  if (peer !== undefined && forwardedFor === null && isIP(peer) === 4) return peer;
  const socket = peer === undefined ? undefined : parseAddress(peer);
  if (peer !== undefined && !socket) return peer;
  let believed = socket ? isTrusted(socket, trusted) : trusted.unix;
  let client = socket;
  for (const entry of (forwardedFor ?? "").split(",").reverse()) {
    if (!believed) break;
    const next = parseForwarded(entry.trim());
    if (!next) break;
    client = next;
    believed = isTrusted(next, trusted);
  }
  return client?.toString() ?? UNIX_PEER;
}

/**
 * An address as a proxy writes it: perhaps with the client's port, and then with an IPv6 address in brackets. Otherwise all clients would count as
 * one, the proxy itself.
 */
function parseForwarded(entry: string): Address | undefined {
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(entry) ?? [];
  const [, withPort] = /^([\d.]+):\d{1,5}$/.exec(entry) ?? [];
  return parseAddress(bracketed ?? withPort ?? entry);
}

/**
 * Undefined for a text that is not a complete IP address; drops a zone (`fe80::1%eth0`), because it means nothing
 * elsewhere.
 */
export function parseAddress(text: string): Address | undefined {
  // ipaddr.js alone would also read "1" and "0x7f.1", as inet_aton does.
  return isIP(text) === 0 ? undefined : ipaddr.process(text.replace(/%.*$/, ""));
}

function isTrusted(address: Address, { ranges }: TrustedProxies): boolean {
  return ranges.some(([network, prefix]) => network.kind() === address.kind() && address.match(network, prefix));
}

function parseRange(entry: string): Range {
  const [address = "", prefix, ...more] = entry.split("/");
  const network = more.length === 0 && isIP(address) !== 0 ? ipaddr.parse(address) : undefined;
  const most = network?.kind() === "ipv4" ? 32 : 128;
  const length = prefix === undefined ? most : Number(prefix);
  if (!network || !/^\d{1,3}$/.test(prefix ?? "0") || length > most) {
    throw new UamError(
      "invalid",
      `"${entry}" is not an address such as 10.0.0.1, a range such as 10.0.0.0/8, or the word unix`,
    );
  }
  return isMapped(network) && length >= 96 ? [network.toIPv4Address(), length - 96] : [network, length];
}

function isMapped(address: Address): address is ipaddr.IPv6 {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress();
}
