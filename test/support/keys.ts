/** Valid public keys, made without ssh-keygen. */

import { generateKeyPairSync } from "node:crypto";

/** A fresh ed25519 public key as one line of text; the wire format is that of RFC 8709 section 4. */
export function freshKey(comment = "me@laptop"): string {
  const type = Buffer.from("ssh-ed25519");
  const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  const key = Buffer.from(x, "base64url");
  const blob = Buffer.concat([length(type), type, length(key), key]);
  return `ssh-ed25519 ${blob.toString("base64")} ${comment}`;
}

function length(bytes: Uint8Array): Buffer {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(bytes.length);
  return prefix;
}
