/** Allowed destinations of webhooks: public addresses, and the networks that the host's operator allows besides. */

import ipaddr from "ipaddr.js";
import { UamError } from "../../shared/errors.ts";
import { hasAddress } from "../../shared/net/networks.ts";
import { MAX_WEBHOOK_URL } from "../../shared/product/webhook-limits.ts";
import { hasControlCharacters } from "../../shared/text/text.ts";

/** The only IPv6 addresses that are routed on the internet (RFC 4291, 2.4). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Returns the address if a webhook may have it. Throws `invalid` for a text that is not an https URL, for a URL with a name and
 * password or a fragment, for plain http if no network is allowed, and for a literal address that is not allowed. A name is judged
 * when it is resolved.
 */
export function requireWebhookUrl(text: string, networks: readonly string[]): string {
  if (text.length > MAX_WEBHOOK_URL) throw refusal(`url must have at most ${MAX_WEBHOOK_URL} characters`);
  if (!URL.canParse(text) || hasControlCharacters(text))
    throw refusal("url is not a URL such as https://example.org/hooks");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refusal("url must begin with https://");
  if (url.username !== "" || url.password !== "") throw refusal("url must not hold a name or a password");
  if (url.hash !== "") throw refusal("url must not have a fragment (#…)");
  if (url.port === "0") throw refusal("url has the port 0");
  const secure = url.protocol === "https:";
  if (!secure && networks.length === 0) {
    throw refusal("url must begin with https://; http:// is for networks that UAM_WEBHOOK_NETWORKS allows");
  }
  const literal = literalOf(url);
  if (literal !== undefined && !mayGoTo(literal, { secure, networks })) throw refusal(whyNot(literal, secure));
  if (isLocalName(url.hostname) && networks.length === 0) throw refusal(`${url.hostname} is a name for this host`);
  return url.href;
}

/** The address in a URL that names one instead of a host's name. */
export function literalOf({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return ipaddr.isValid(bare) ? bare : undefined;
}

/**
 * Whether a webhook may go to that address: with TLS to every public one, and without TLS too to the allowed networks.
 */
export function mayGoTo(
  address: string,
  { secure, networks }: { readonly secure: boolean; readonly networks: readonly string[] },
): boolean {
  return (secure && isPublic(address)) || hasAddress(networks, address);
}

/** Why a webhook may not go there, as a sentence. */
export function whyNot(address: string, secure: boolean): string {
  return secure || !isPublic(address)
    ? `${address} is not a public address, and UAM_WEBHOOK_NETWORKS does not allow it`
    : `Without TLS (https) a webhook goes only where UAM_WEBHOOK_NETWORKS allows it, and that is not ${address}`;
}

/** The webhook's name in records and mails: its path and query may be secret. */
export function originOf(url: string): string {
  return new URL(url).origin;
}

/**
 * Addresses that are set aside for some purpose are not public: private, loopback, link-local, shared (CGNAT), multicast, mapped,
 * NAT64, …
 */
function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== "unicast") return false;
  return address.kind() === "ipv4" || (address as ipaddr.IPv6).match(GLOBAL_IPV6);
}

function isLocalName(hostname: string): boolean {
  return /^(.*\.)?localhost\.?$/i.test(hostname);
}

function refusal(sentence: string): UamError {
  return new UamError("invalid", sentence, { reason: "webhook.address" });
}
