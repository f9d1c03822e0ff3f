/** The text of an authorized-keys file: written for the host, and read back as sshd would read it. */

import { Buffer } from "node:buffer";
import type { HostKey } from "../../protocol/host.ts";
import { encodeKey, readKey } from "../../protocol/ssh-wire.ts";
import { UamError } from "../../shared/errors.ts";
import { isCanonicalNetwork } from "../../shared/net/networks.ts";
import type { KeyType } from "../../shared/product/ssh-key-types.ts";

/**
 * How the host's sshd reads `expiry-time=`: `utc` with a final `Z` (OpenSSH 9.1 and later), `local` in the host's own
 * time zone without one (7.7 to 9.0, which refuse every key whose line has the `Z`).
 */
export type ExpiryFormat = { readonly kind: "utc" } | { readonly kind: "local" };

/** A key in a line of a file, in canonical form however the line spells it. */
export interface AuthorizedKey {
  readonly type: KeyType;
  readonly base64: string;
}

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;
const LAST_EXPIRY = Date.UTC(9999, 11, 30);

/** The keys that have a line in the file: all but those that may be used from nowhere. */
export function usableKeys(keys: readonly HostKey[]): readonly HostKey[] {
  return keys.filter(({ networks }) => networks === undefined || networks.length > 0);
}

/**
 * The whole file: one line per usable key, in the order given, each ending with a newline; the empty string for none. sshd
 * refuses every key from the second of `expireAt` on, and a key with networks from anywhere else. Throws `internal` for a key,
 * or networks, that are not in the stored, canonical form.
 */
export function renderAuthorizedKeys(keys: readonly HostKey[], expireAt: Date, expiry: ExpiryFormat): string {
  const usable = usableKeys(keys);
  if (usable.length === 0) return "";
  const time = expiryTime(expireAt, expiry);
  return usable.map((key) => `expiry-time="${time}"${from(key)} ${canonicalKey(key)} uam:${key.id}\n`).join("");
}

/**
 * Every key of an accepted type for which sshd would find a line in `text`, in the order of the lines. Like sshd it skips
 * comments and options, and sees through other spellings of a key: white space inside the base64, other names of the type,
 * padded numbers. It finds too many rather than too few: a line that sshd would refuse, for its options or bad base64, may count too.
 * Never throws, and takes time proportional to the length of the text.
 */
export function readAuthorizedKeys(text: string): readonly AuthorizedKey[] {
  return text.split("\n").flatMap((line) => {
    // sshd works on C strings, so a NUL ends the line.
    const [visible = ""] = line.split("\0", 1);
    const start = visible.replace(/^[ \t]+/, "");
    if (start.startsWith("#")) return [];
    // Both places count: what looks like a key at the start may be an option's text to sshd, with the key behind it.
    return [keyAt(start), keyAt(afterOptions(start))].filter((key) => key !== undefined);
  });
}

/**
 * The last second in which the key is good. sshd refuses when `expiry-time < now` in whole seconds (auth2-pubkeyfile.c,
 * auth_authorise_keyopts), so naming the second of `expireAt` itself would let the key in until that second has passed.
 */
function expiryTime(expireAt: Date, expiry: ExpiryFormat): string {
  const second = Math.floor(expireAt.getTime() / SECOND) * SECOND - SECOND;
  if (Number.isNaN(second)) throw new UamError("internal", "The expiry date for the authorized keys is not a date");
  // Beyond these bounds sshd cannot read the time and would ignore the line: 0 does not count as a time, years have four digits.
  const last = Math.min(Math.max(second, DAY), LAST_EXPIRY);
  if (expiry.kind === "utc") return `${digits(last)}Z`;
  return digits(last + smallestOffset(last));
}

/**
 * The least offset from UTC (milliseconds) that the host's zone has within half a year of the time. sshd before 9.1 calls
 * mktime with tm_isdst = 0, so it reads even a summer date as standard time; the least offset is never read as a later time.
 */
function smallestOffset(time: number): number {
  const weeks = Array.from({ length: 53 }, (_, week) => time + (week - 26) * 7 * DAY);
  return Math.min(...weeks.map((at) => -new Date(at).getTimezoneOffset() * 60 * SECOND));
}

function digits(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace(/\D/g, "");
}

/**
 * sshd matches the client's address with each network, and its name with the same text as a pattern (match.c,
 * match_host_and_ip): a network always has its prefix length here, which no name and no wildcard looks like. sshd refuses
 * everybody if only one of them has host bits set.
 */
function from({ id, networks }: HostKey): string {
  if (networks === undefined) return "";
  if (!networks.every(isCanonicalNetwork)) {
    throw new UamError("internal", `The stored networks of the SSH key ${id} are damaged: they are not canonical`);
  }
  return `,from="${networks.join(",")}"`;
}

function canonicalKey(key: HostKey): string {
  const blob = Buffer.from(key.base64, "base64");
  const read = readKey(blob);
  const canonical = !("malformed" in read) && read.type === key.type && encodeKey(read).equals(blob);
  if (!canonical || blob.toString("base64") !== key.base64 || !Number.isSafeInteger(key.id)) {
    throw new UamError("internal", `The stored SSH key ${key.id} is damaged: it is not a canonical public key`);
  }
  return `${key.type} ${key.base64}`;
}

/** The key whose type and data `text` begins with. The outer type name is not compared: that finds more, never less. */
function keyAt(text: string): AuthorizedKey | undefined {
  const data = /^[^ \t]+[ \t]+([^ \t]+)/.exec(text)?.[1];
  if (data === undefined) return undefined;
  // sshd's b64_pton skips white space such as a carriage return inside the data; this decoder skips all it does not know.
  const key = readKey(Buffer.from(data, "base64"));
  return "malformed" in key ? undefined : { type: key.type, base64: encodeKey(key).toString("base64") };
}

/** The text after the options at the start of `text` (misc.c, sshkey_advance_past_options), without leading blanks. */
function afterOptions(text: string): string {
  let quoted = false;
  let end = 0;
  for (; end < text.length && (quoted || (text[end] !== " " && text[end] !== "\t")); end++) {
    if (text[end] === "\\" && text[end + 1] === '"') end++;
    else if (text[end] === '"') quoted = !quoted;
  }
  return text.slice(end).replace(/^[ \t]+/, "");
}
