/** The three NIST curves that SSH keys use, and whether a point is a valid public key on them. */

import type { Buffer } from "node:buffer";

interface Curve {
  readonly bits: number;
  readonly p: bigint;
  readonly b: bigint;
  /** The number of points. */
  readonly order: bigint;
}

// FIPS 186-4, appendix D.1.2; in all three a = -3 and the cofactor is 1.
const CURVES: Readonly<Record<string, Curve>> = {
  nistp256: {
    bits: 256,
    p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
    b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
    order: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  },
  nistp384: {
    bits: 384,
    p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
    b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
    order: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
  },
  nistp521: {
    bits: 521,
    p: 2n ** 521n - 1n,
    b: 0x0051953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
    order:
      0x01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
  },
};

/** The size of the curve in bits; throws for a name that is none of the three. */
export function curveBits(name: string): number {
  return curveOf(name).bits;
}

/**
 * True if `point` is an uncompressed point of the curve (SEC 1, section 2.3.4) that OpenSSH takes as a public key. Up
 * to 9.x its `sshkey_ec_validate_public` also refuses coordinates of less than half the curve's bits, or near its order.
 */
export function isPublicPoint(name: string, point: Buffer): boolean {
  const { bits, p, b, order } = curveOf(name);
  const size = Math.ceil(bits / 8);
  if (point.length !== 1 + 2 * size || point[0] !== 4) return false;
  const x = toInteger(point.subarray(1, 1 + size));
  const y = toInteger(point.subarray(1 + size));
  // The order is below p, so coordinates that are not reduced fail here too.
  if (x >= order - 1n || y >= order - 1n) return false;
  const smallest = 2n ** BigInt(Math.floor(bits / 2));
  return x >= smallest && y >= smallest && (y * y - (x * x * x - 3n * x + b)) % p === 0n;
}

/** The unsigned big-endian integer in `bytes`; 0 for none. */
export function toInteger(bytes: Buffer): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString("hex")}`);
}

function curveOf(name: string): Curve {
  const curve = Object.hasOwn(CURVES, name) ? CURVES[name] : undefined;
  if (curve === undefined) throw new Error(`unknown curve ${name}`);
  return curve;
}
