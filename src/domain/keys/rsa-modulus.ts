/** RSA moduli that anybody can factor, so that their private keys are not secret. */

/** Primes up to here are tried: 2^16 + 1, a favourite of those who make such keys, is the last. */
const LARGEST_PRIME = 65_537;

/**
 * Why the (odd) modulus is easy to factor, as the end of a sentence that begins with "RSA key has"; undefined if no reason
 * is found.
 */
export function weaknessOf(modulus: bigint): string | undefined {
  if (greatestCommonDivisor(modulus, smallPrimes() % modulus) !== 1n) {
    return `a modulus with a prime factor of at most ${LARGEST_PRIME}`;
  }
  const root = squareRoot(modulus);
  return root * root === modulus ? "a modulus that is a square" : undefined;
}

let product: bigint | undefined;

/** The product of all odd primes to be tried, 94,000 bits; made for the first RSA key, in some 10 ms. */
function smallPrimes(): bigint {
  product ??= multiply(oddPrimes(LARGEST_PRIME).map(BigInt));
  return product;
}

/** The sieve of Eratosthenes. */
function oddPrimes(largest: number): readonly number[] {
  const isComposite = new Uint8Array(largest + 1);
  const primes: number[] = [];
  for (let candidate = 3; candidate <= largest; candidate += 2) {
    if (isComposite[candidate] === 1) continue;
    primes.push(candidate);
    for (let multiple = candidate * candidate; multiple <= largest; multiple += 2 * candidate)
      isComposite[multiple] = 1;
  }
  return primes;
}

/** In halves: factors of one size multiply faster than a large one by many small ones. */
function multiply(factors: readonly bigint[]): bigint {
  if (factors.length <= 1) return factors[0] ?? 1n;
  const middle = factors.length >> 1;
  return multiply(factors.slice(0, middle)) * multiply(factors.slice(middle));
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [larger, smaller] = [a, b];
  while (smaller !== 0n) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}

/** The integer part, by Newton's method from above. */
function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt((value.toString(16).length * 4 + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}
