/** Recognises private keys, also in part: what is recognised is wiped from the page and never sent. */

import type { PrivateFormat } from "./fault.ts";

/** Texts that only private keys contain; compared without white space and without regard to case, so that a bad copy hides none. */
const MARKS: readonly (readonly [PrivateFormat, RegExp])[] = [
  ["putty", /putty-user-key-file|private-lines:|private-mac:/],
  ["openssh", /(?:begin|end)opensshprivatekey/],
  ["ssh2", /(?:begin|end)ssh2(?:encrypted)?privatekey|sshprivatekeyfile/],
  ["pem", /(?:begin|end)[a-z0-9]{0,40}privatekey/],
];

/** "openssh-key-v1" in base64: the body of such a file without its first line. */
const OPENSSH_MAGIC = "b3BlbnNzaC1rZXktdjE";

/** Characters that are not drawn, and the NULs of UTF-16 that was read as something else. */
const INVISIBLE = /[\s\0-\x1F\x7F-\x9F\p{Cf}\u2800]/gu;

/** Which private key the text is or contains; undefined if none. */
export function privateFormatOf(text: string): PrivateFormat | undefined {
  const packed = text.replace(INVISIBLE, "");
  const folded = packed.toLowerCase();
  const marked = MARKS.find(([, mark]) => mark.test(folded));
  if (marked !== undefined) return marked[0];
  if (packed.includes(OPENSSH_MAGIC)) return "openssh";
  return isBareDer(packed) ? "pem" : undefined;
}

/**
 * Whether the text is the base64 of a private key in DER without the lines around it: a SEQUENCE that begins with the version, an
 * INTEGER of 0 to 3 (PKCS #1, PKCS #8, RFC 5915), or that is encrypted by a scheme of PKCS #5. Public keys begin otherwise.
 */
function isBareDer(text: string): boolean {
  const start = /^[A-Za-z0-9+/]{16,}/.exec(text)?.[0].slice(0, 40) ?? "";
  if (!/^M[A-P]/.test(start)) return false;
  const bytes = Array.from(atob(start.slice(0, start.length - (start.length % 4))), (letter) => letter.charCodeAt(0));
  const length = bytes[1] ?? 0;
  const [tag, size, value] = bytes.slice(length < 0x80 ? 2 : 2 + (length & 0x7f));
  const isVersioned = tag === 2 && size === 1 && value !== undefined && value <= 3;
  // The algorithm's OBJECT IDENTIFIER 1.2.840.113549.1.5…
  const isEncrypted = bytes.join().includes([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05].join());
  return bytes[0] === 0x30 && (isVersioned || isEncrypted);
}
