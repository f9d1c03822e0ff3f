/** Networks in CIDR notation: read, written canonically, and compared as the sets of addresses that they are. */

import { UamError } from "../errors.ts";

/** How many networks one list may have. */
export const MAX_NETWORKS = 32;

/** The addresses in any of these canonical networks: undefined for every address, none for no address at all. */
export type Networks = readonly string[] | undefined;

/** A network: the number of bits in its family's addresses, the first address, and how many bits all its addresses share. */
interface Network {
  readonly bits: 32 | 128;
  readonly first: bigint;
  readonly prefix: number;
}

const EVERYWHERE = ["0.0.0.0/0", "::/0"] as const;
const OCTET = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
/** `::ffff:0:0`, below which IPv6 has the addresses of IPv4 (RFC 4291, 2.5.5.2). */
const MAPPED = 0xffff_0000_0000n;

/**
 * A list as typed, each network in canonical form and once: lower case, always with a prefix length, and IPv4 for IPv4-mapped
 * IPv6, as sshd sees such clients. A single address is a network of its own. Throws `invalid` for more than `MAX_NETWORKS`,
 * for a text that is not a network, and for a network with host bits that are not all zero.
 */
export function parseNetworks(list: readonly string[]): readonly string[] {
  if (list.length > MAX_NETWORKS) throw invalid(`At most ${MAX_NETWORKS} networks can be given, not ${list.length}`);
  return [...new Set(list.map((entry) => formatNetwork(requireNetwork(entry.trim()))))];
}

/** Whether the text is a network exactly as `parseNetworks` writes it. */
export function isCanonicalNetwork(text: string): boolean {
  const network = parse(text);
  return network !== undefined && isWhole(network) && formatNetwork(network) === text;
}

/** The networks that a stored list allows: an empty one restricts nothing. */
export function allowedBy(list: readonly string[]): Networks {
  return list.length === 0 ? undefined : list;
}

/** The addresses in both, in as few networks as possible and always in the same order. */
export function commonNetworks(one: Networks, other: Networks): Networks {
  if (one === undefined || other === undefined) {
    const either = one ?? other;
    return either && fewest(either.map(known)).map(formatNetwork);
  }
  const others = other.map(known);
  const common = one.map(known).flatMap((network) =>
    others.flatMap((it) => {
      if (contains(it, network)) return [network];
      return contains(network, it) ? [it] : [];
    }),
  );
  return fewest(common).map(formatNetwork);
}

/** Whether every address of the first is in the second. */
export function isWithin(inner: Networks, outer: Networks): boolean {
  return outsideOf(inner, outer).length === 0;
}

/** Those networks of the first that have an address outside the second. */
export function outsideOf(inner: Networks, outer: Networks): readonly string[] {
  if (outer === undefined) return [];
  const covering = fewest(outer.map(known));
  return (inner ?? EVERYWHERE).filter((entry) => !covering.some((it) => contains(it, known(entry))));
}

/** Whether the address is in one of these; a text that is not an address never is, unless every address is. */
export function hasAddress(networks: Networks, address: string): boolean {
  if (networks === undefined) return true;
  const single = address.includes("/") ? undefined : parse(address);
  return single !== undefined && networks.map(known).some((network) => contains(network, single));
}

function requireNetwork(text: string): Network {
  const network = parse(text);
  if (network === undefined) {
    throw invalid(`"${text.slice(0, 64)}" is not a network such as 192.0.2.0/24 or 2001:db8::/32, nor an address`);
  }
  if (!isWhole(network)) {
    const meant = formatNetwork({ ...network, first: startOf(network, network.prefix) });
    throw invalid(`${text} is an address within a network; the network itself is ${meant}`);
  }
  return network;
}

/** Undefined for anything else, such as an address with a zone or with leading zeros; the host bits may be set. */
function parse(text: string): Network | undefined {
  const [, address = "", , digits] = /^([\da-f:.]{2,45})(\/(0|[1-9]\d{0,2}))?$/i.exec(text) ?? [];
  const found = IPV4.test(address) ? ipv4(address) : ipv6(address);
  if (found === undefined) return undefined;
  const { bits, first } = found;
  const prefix = digits === undefined ? bits : Number(digits);
  if (prefix > bits) return undefined;
  const isMapped = bits === 128 && prefix >= 96 && first >> 32n === MAPPED >> 32n;
  return isMapped ? { bits: 32, first: first - MAPPED, prefix: prefix - 96 } : { bits, first, prefix };
}

function ipv4(address: string): Pick<Network, "bits" | "first"> {
  return { bits: 32, first: address.split(".").reduce((sum, octet) => sum * 256n + BigInt(octet), 0n) };
}

function ipv6(address: string): Pick<Network, "bits" | "first"> | undefined {
  if (!address.includes(":") || !URL.canParse(`http://[${address}]/`)) return undefined;
  const [head = "", tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const groupsOf = (text: string) => (text === "" ? [] : text.split(":"));
  const [front, back] = [groupsOf(head), groupsOf(tail ?? "")];
  const groups = [...front, ...Array<string>(8 - front.length - back.length).fill("0"), ...back];
  return { bits: 128, first: groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n) };
}

function formatNetwork({ bits, first, prefix }: Network): string {
  const size = bits === 32 ? 8 : 16;
  const parts = Array.from({ length: bits / size }, (_, index) =>
    Number((first >> BigInt(bits - size * (index + 1))) & ((1n << BigInt(size)) - 1n)),
  );
  if (bits === 32) return `${parts.join(".")}/${prefix}`;
  // The shortest form, lower case (RFC 5952).
  const address = new URL(`http://[${parts.map((part) => part.toString(16)).join(":")}]/`).hostname;
  return `${address.slice(1, -1)}/${prefix}`;
}

/** One that was parsed before. */
function known(text: string): Network {
  const network = parse(text);
  if (network === undefined) throw new Error(`"${text}" is not a network`);
  return network;
}

/** In order, without networks that others contain, and with halves joined. */
function fewest(networks: readonly Network[]): readonly Network[] {
  const ordered = [...networks].sort(
    (one, other) => one.bits - other.bits || compare(one.first, other.first) || one.prefix - other.prefix,
  );
  const kept: Network[] = [];
  for (let next of ordered) {
    let last = kept.at(-1);
    if (last !== undefined && contains(last, next)) continue;
    for (; last !== undefined && areHalves(last, next); last = kept.at(-1)) {
      kept.pop();
      next = { ...next, first: last.first, prefix: next.prefix - 1 };
    }
    kept.push(next);
  }
  return kept;
}

/** Whether the two, in order, are the halves of a network one bit wider. */
function areHalves(one: Network, other: Network): boolean {
  if (one.bits !== other.bits || one.prefix !== other.prefix || one.first === other.first) return false;
  return startOf(other, other.prefix - 1) === one.first;
}

function contains(outer: Network, inner: Network): boolean {
  if (outer.bits !== inner.bits || outer.prefix > inner.prefix) return false;
  return startOf(inner, outer.prefix) === outer.first;
}

function isWhole(network: Network): boolean {
  return startOf(network, network.prefix) === network.first;
}

/** The first address of the network with that prefix length that the network's first address is in. */
function startOf({ bits, first }: Network, prefix: number): bigint {
  const rest = BigInt(bits - prefix);
  return (first >> rest) << rest;
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other);
}

function invalid(sentence: string): UamError {
  return new UamError("invalid", sentence, { reason: "network.invalid" });
}
