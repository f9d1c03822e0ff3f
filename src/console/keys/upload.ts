/** The data sent when a key is added: made only here, and only of a public key that was read. */

import type { Fault } from "./fault.ts";
import { nameFaultOf } from "./key-name.ts";
import { privateFormatOf } from "./private-key.ts";
import { readPublicKey } from "./public-key.ts";

export type Upload =
  | { readonly body: { readonly name: string; readonly public_key: string }; readonly fingerprint: string }
  | { readonly fault: Fault }
  | { readonly nameFault: string };

/** The request for the key in `text`, or why there is none. A private key in either field makes none. */
export function uploadOf(text: string, name: string): Upload {
  const read = readPublicKey(text);
  if ("fault" in read) return read;
  const format = privateFormatOf(name);
  if (format !== undefined) return { fault: { kind: "private", format } };
  const nameFault = nameFaultOf(name);
  if (nameFault !== undefined) return { nameFault };
  return { body: { name: name.trim(), public_key: read.key.line }, fingerprint: read.key.fingerprint };
}
