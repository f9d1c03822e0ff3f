/** Networks from which something may be used: CIDRs, as people write them. */

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { parseAddress } from "./client-address.ts";
import { UamError } from "./errors.ts";

/** More than anybody can keep an eye on. */
export const MAX_NETWORKS = 50;

type Network = [address: ipaddr.IPv4 | ipaddr.IPv6, prefix: number];

/**
 * The networks in canonical form, each once, in the given order. Throws `invalid`, naming the first that is no CIDR or has bits set
 * behind its prefix, and for more than `MAX_NETWORKS`.
 */
export function parseNetworks(list: readonly string[]): readonly string[] {
  if (list.length > MAX_NETWORKS) throw new UamError("invalid", `At most ${MAX_NETWORKS} networks can be given`);
  return [...new Set(list.map((text) => textOf(parseNetwork(text.trim()))))];
}

/** Whether the address is in one of the networks; anything is, where there are none, and no text that is not an address. */
export function isWithin(address: string, networks: readonly string[]): boolean {
  if (networks.length === 0) return true;
  const parsed = parseAddress(address);
  return (
    parsed !== undefined &&
    networks.some((text) => {
      const [network, prefix] = ipaddr.parseCIDR(text);
      return network.kind() === parsed.kind() && parsed.match(network, prefix);
    })
  );
}

/** Whether every address of `inner` is one of `outer`; both as `parseNetworks` gives them, where none means every address. */
export function covers(outer: readonly string[], inner: readonly string[]): boolean {
  if (outer.length === 0) return true;
  return (
    inner.length > 0 &&
    inner.every((text) => {
      const [address, prefix] = ipaddr.parseCIDR(text);
      return outer.some((other) => {
        const [network, length] = ipaddr.parseCIDR(other);
        return network.kind() === address.kind() && length <= prefix && address.match(network, length);
      });
    })
  );
}

function parseNetwork(text: string): Network {
  const [address = "", prefix = "", ...more] = text.split("/");
  const parsed = more.length === 0 && isIP(address) !== 0 && !address.includes("%") ? ipaddr.parse(address) : undefined;
  const bits = parsed?.kind() === "ipv4" ? 32 : 128;
  const length = /^(?:0|[1-9]\d{0,2})$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (parsed === undefined || !(length <= bits)) {
    throw new UamError(
      "invalid",
      `${JSON.stringify(clip(text))} is not a network such as 192.0.2.0/24 or 2001:db8::/32`,
    );
  }
  const base = firstOf(parsed, length);
  if (base.toString() !== parsed.toString()) {
    throw new UamError(
      "invalid",
      `${clip(text)} has bits set behind its prefix; the network is ${textOf([base, length])}, the one address ${textOf([parsed, bits])}`,
    );
  }
  // Clients' addresses are IPv4 where they are IPv4 within IPv6.
  if (base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress() && length >= 96)
    return [base.toIPv4Address(), length - 96];
  return [base, length];
}

function firstOf(address: Network[0], length: number): Network[0] {
  const bytes = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, length - 8 * index));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  return ipaddr.fromByteArray(bytes);
}

function textOf([address, prefix]: Network): string {
  return `${address.toString()}/${prefix}`;
}

/** What a caller submitted must not fill an answer. */
function clip(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text;
}
