/** Where connections may be forwarded to: `host:port`, as sshd compares it, as text. */

import { UamError } from "../errors.ts";
import { parseNetworks } from "./networks.ts";

/** More of them in one profile are refused. */
export const MAX_TARGETS = 100;

const NAME = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?)*$/;
const TARGET = /^(?:\[([^\]]{1,60})\]|([^:\s]{1,253})):([1-9]\d{0,4})$/;

/**
 * The same targets, each once and in one form: names in lower case, IPv6 addresses in brackets. Throws `invalid`, naming the first that is not
 * `host:port`, and for too many.
 */
export function parseTargets(texts: readonly string[]): readonly string[] {
  if (texts.length > MAX_TARGETS) throw new UamError("invalid", `More than ${MAX_TARGETS} targets`);
  return [...new Set(texts.map(parseTarget))];
}

function parseTarget(text: string): string {
  const [, address, name = "", port = ""] = TARGET.exec(text.trim()) ?? [];
  const host = address === undefined ? parseName(name) : parseAddress(address);
  if (host !== undefined && Number(port) <= 65_535) return `${host}:${port}`;
  const shown = JSON.stringify(text.slice(0, 80));
  throw new UamError(
    "invalid",
    `Not a target such as db1.example.org:5432, 192.0.2.7:22 or [2001:db8::7]:443, with one port: ${shown}`,
  );
}

/** What ends with a number is an address to every resolver. */
function parseName(text: string): string | undefined {
  const name = text.toLowerCase();
  if (!NAME.test(name)) return undefined;
  return /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/.test(name) && addressIn(name) === undefined ? undefined : name;
}

function parseAddress(text: string): string | undefined {
  const address = addressIn(text);
  return address?.includes(":") ? `[${address}]` : undefined;
}

/** A single address in canonical form. */
function addressIn(text: string): string | undefined {
  if (text.includes("/")) return undefined;
  try {
    return parseNetworks([text])[0]?.split("/")[0];
  } catch (error) {
    if (error instanceof UamError) return undefined;
    throw error;
  }
}
