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

/** A fresh security key as one line: the wire format is that of OpenSSH's PROTOCOL.u2f. */
export function freshSecurityKey(comment = "me@token"): string {
  const type = "sk-ssh-ed25519@openssh.com";
  const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  const fields = [Buffer.from(type), Buffer.from(x, "base64url"), Buffer.from("ssh:")];
  const blob = Buffer.concat(fields.flatMap((field) => [length(field), field]));
  return `${type} ${blob.toString("base64")} ${comment}`;
}

function length(bytes: Uint8Array): Buffer {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(bytes.length);
  return prefix;
}
