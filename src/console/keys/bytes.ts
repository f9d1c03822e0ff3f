/** Bytes of keys, to and from text. */

/** The bytes, or undefined unless the text is exactly what an encoder writes: padded, no other alphabet, no stray bits. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined;
  const letters = atob(text);
  return btoa(letters) === text ? Uint8Array.from(letters, (letter) => letter.charCodeAt(0)) : undefined;
}

export function encodeBase64(bytes: Uint8Array): string {
  let letters = "";
  for (const byte of bytes) letters += String.fromCharCode(byte);
  return btoa(letters);
}

/** The bytes as Latin-1, which says each of them. */
export function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/** The unsigned big-endian integer; 0 for none. */
export function toInteger(bytes: Uint8Array): bigint {
  let digits = "";
  for (const byte of bytes) digits += byte.toString(16).padStart(2, "0");
  return digits === "" ? 0n : BigInt(`0x${digits}`);
}

export function bitLength(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}
