/** Valid public keys, made without ssh-keygen. */

import { randomBytes } from "node:crypto";

/** A fresh ed25519 public key as one line of text; the wire format is that of RFC 8709 section 4. */
export function freshKey(comment = "me@laptop"): string {
  const type = Buffer.from("ssh-ed25519");
  const blob = Buffer.concat([length(type), type, length(Buffer.alloc(32)), randomBytes(32)]);
  return `ssh-ed25519 ${blob.toString("base64")} ${comment}`;
}

function length(bytes: Uint8Array): Buffer {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(bytes.length);
  return prefix;
}
