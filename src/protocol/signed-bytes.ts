/** A signature over bytes that name their own purpose. */

import { Buffer } from "node:buffer";
import { verify } from "node:crypto";
import { ed25519Fault } from "./ed25519.ts";
import { checkingKey } from "./fleet-signature.ts";

/** Whether the owner of the Ed25519 key, given as its 32 bytes, made that signature in base64. False for a key that is unsound. */
export function isSignedBytes(key: Uint8Array, bytes: Uint8Array, signature: string): boolean {
  if (key.length !== 32 || !/^[A-Za-z0-9+/]{86}==$/.test(signature)) return false;
  if (ed25519Fault(Buffer.from(key)) !== undefined) return false;
  return verify(null, bytes, checkingKey(key), Buffer.from(signature, "base64"));
}
