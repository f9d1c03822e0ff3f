/**
 * The format of a machine's token: `uam_`, 43 digits in base 62 that are 256 random bits, and 6 digits that are their CRC-32. Scanners
 * for leaked secrets find it by its prefix and are sure of it by its checksum; nothing in it has to be escaped anywhere.
 */

import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/** Prefix of every token. */
export const TOKEN_PREFIX = "uam_";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 62^43 is a little more than 2^256. */
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
/** 48 of the 256 bits: enough to tell tokens apart, and nothing that helps to guess one. */
const SHOWN_LENGTH = TOKEN_PREFIX.length + 8;

const SHAPE = new RegExp(`^${TOKEN_PREFIX}([0-9A-Za-z]{${RANDOM_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`);

/** A new token. */
export function makeToken(): string {
  const random = base62(BigInt(`0x${randomBytes(32).toString("hex")}`), RANDOM_LENGTH);
  return `${TOKEN_PREFIX}${random}${checksumOf(random)}`;
}

/** Whether the text can be a token: of its shape, with the right checksum. */
export function isTokenShaped(text: string): boolean {
  const [, random, checksum] = SHAPE.exec(text) ?? [];
  return random !== undefined && checksum === checksumOf(random);
}

/** The beginning of a token, by which people tell it from others; it may be shown and logged. */
export function shownPartOf(token: string): string {
  return token.slice(0, SHOWN_LENGTH);
}

/** CRC-32 (ISO 3309) of the 43 digits as text, in base 62. */
function checksumOf(random: string): string {
  return base62(BigInt(crc32(random)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let digits = "";
  for (let rest = value; digits.length < length; rest /= 62n) digits = DIGITS.charAt(Number(rest % 62n)) + digits;
  return digits;
}
