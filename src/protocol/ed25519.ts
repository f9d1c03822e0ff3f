/** Whether 32 bytes are a sound Ed25519 public key (RFC 8032, section 5.1.3). */

import { Buffer } from "node:buffer";

const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const SIGN = 1n << 255n;

/** The fault of the key in `bytes`, or undefined: the end of a sentence that begins with "the key". */
export function ed25519Fault(bytes: Buffer): string | undefined {
  const y = BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`) & (SIGN - 1n);
  if (y >= P) return "is not encoded as RFC 8032 says";
  const y2 = (y * y) % P;
  const u = modulo(y2 - 1n);
  const v = modulo(D * y2 + 1n);
  if (hasSmallOrder(y2, u)) return "is a point of small order, which anybody can forge signatures for";
  // x² = u/v has a solution where uv has one: v is never zero, because -1/d is not a square.
  return isSquare((u * v) % P) ? undefined : "is not a point of the curve";
}

/**
 * True for the eight points whose order divides 8, for every x. Those of order 1 and 2 have y² = 1, of order 4 y = 0.
 * Doubling one of order 8 gives y = 0, so x² = -y² there, and the equation of the curve becomes dy⁴ + 2y² - 1 = 0.
 */
function hasSmallOrder(y2: bigint, u: bigint): boolean {
  return u === 0n || y2 === 0n || modulo(D * y2 * y2 + 2n * y2 - 1n) === 0n;
}

/** By Euler's criterion: a^((p - 1) / 2) is 1 for squares. */
function isSquare(a: bigint): boolean {
  let power = 1n;
  let base = a;
  for (let exponent = (P - 1n) / 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) power = (power * base) % P;
    base = (base * base) % P;
  }
  return power === 1n;
}

function modulo(value: bigint): bigint {
  const rest = value % P;
  return rest < 0n ? rest + P : rest;
}
