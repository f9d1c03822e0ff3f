/** Public keys in the format of RFC 4716, which PuTTYgen and `ssh-keygen -e` write, as the one line that OpenSSH reads. */

import { decodeBase64, encodeBase64 } from "./bytes.ts";
import { innerName } from "./wire.ts";

const BLOCK = /^\s*---- ?BEGIN SSH2 PUBLIC KEY ?----[ \t]*\r?\n([\s\S]*?)\r?\n---- ?END SSH2 PUBLIC KEY ?----\s*$/;

/** `<type> <base64> <comment>`; undefined if the text is not one such key. Whether the key is a good one is not checked. */
export function fromRfc4716(text: string): string | undefined {
  const body = BLOCK.exec(text)?.[1];
  // A backslash at its end continues a header on the next line (section 3.3).
  const lines = body?.replace(/\\\r?\n/g, "").split(/\r\n|\r|\n/);
  if (lines === undefined) return undefined;
  const headers = lines.filter((line) => line.includes(":"));
  const data = lines.filter((line) => !line.includes(":")).map((line) => line.trim());
  const blob = decodeBase64(padded(data.join("").replace(/=+$/, "")));
  const type = blob === undefined ? undefined : innerName(blob);
  if (blob === undefined || type === undefined || !/^[!-~]+$/.test(type)) return undefined;
  return `${type} ${encodeBase64(blob)} ${commentIn(headers)}`.trimEnd();
}

function padded(base64: string): string {
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, "=");
}

function commentIn(headers: readonly string[]): string {
  const header = headers.find((line) => /^comment:/i.test(line)) ?? "";
  const value = header.slice(header.indexOf(":") + 1).trim();
  return value.replace(/^"(.*)"$/, "$1");
}
