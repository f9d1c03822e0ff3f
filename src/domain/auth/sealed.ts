/** AES-256-GCM for tickets that the service hands out and takes back, and for stored secrets: nonce, content, tag. */

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/**
 * A key of 32 bytes and its purpose. The purpose is bound to the content but not part of it: the content cannot be opened for another
 * purpose.
 */
export interface Sealing {
  readonly key: Uint8Array;
  readonly purpose: string;
}

/** A sealed text to hand out: nobody else can make, read or change it. */
export interface SealedTicket {
  /** 32 hex digits, unique; marks the ticket as used. */
  readonly id: string;
  readonly payload: string;
  readonly expiresAt: Date;
}

const CIPHER = "aes-256-gcm";
const NONCE = 12;
const TAG = 16;
const ID = 16;
const EXPIRY = 8;
const LONGEST_PAYLOAD = 256;
/** Base64url of the longest ticket; anything longer is refused unread. */
const LONGEST_TICKET = Math.ceil(((NONCE + ID + EXPIRY + LONGEST_PAYLOAD + TAG) * 4) / 3);

/** The content under a seal, with a nonce of its own each time. */
export function seal({ key, purpose }: Sealing, content: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG });
  cipher.setAAD(Buffer.from(purpose));
  return Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}

/** The content, or undefined if it was sealed with another key or for another purpose, or was changed. Never throws. */
export function unseal({ key, purpose }: Sealing, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < NONCE + TAG) return undefined;
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAAD(Buffer.from(purpose));
  decipher.setAuthTag(sealed.subarray(-TAG));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE, -TAG)), decipher.final()]);
  } catch {
    // The tag does not match. There is nothing to report.
    return undefined;
  }
}

/** A ticket that can be opened until `expiresAt`: a random id, the expiry and the payload under a seal. Base64url. */
export function sealTicket(sealing: Sealing, { payload, expiresAt }: Omit<SealedTicket, "id">): string {
  const expiry = Buffer.alloc(EXPIRY);
  expiry.writeBigUInt64BE(BigInt(expiresAt.getTime()));
  return seal(sealing, Buffer.concat([randomBytes(ID), expiry, Buffer.from(payload)])).toString("base64url");
}

/** The ticket, or undefined if it was not issued here for that, was changed, or has expired. Never throws. */
export function unsealTicket(sealing: Sealing, text: string, now: Date): SealedTicket | undefined {
  if (text.length > LONGEST_TICKET) return undefined;
  const bytes = Buffer.from(text, "base64url");
  // Decoding skips what is not base64url; only the exact text that was issued may be opened.
  if (bytes.length < NONCE + ID + EXPIRY + TAG || bytes.toString("base64url") !== text) return undefined;
  const plain = unseal(sealing, bytes);
  if (plain === undefined) return undefined;
  const expiresAt = new Date(Number(plain.readBigUInt64BE(ID)));
  if (now.getTime() >= expiresAt.getTime()) return undefined;
  return { id: plain.toString("hex", 0, ID), payload: plain.toString("utf8", ID + EXPIRY), expiresAt };
}
