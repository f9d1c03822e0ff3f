/** The text of a file that somebody chose or dropped: public key files are short, and some editors write UTF-16. */

/** Files beyond this size (bytes) are not read: the largest public key has under 3 kB. */
export const MAX_FILE = 64 * 1024;

/** The text of the bytes, by their byte order mark; without one UTF-8. */
export function decodeKeyFile(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return new TextDecoder().decode(bytes);
}
