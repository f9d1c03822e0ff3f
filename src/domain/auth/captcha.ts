/** Captcha challenges without a store: the id carries its own sealed answer. */

import { createCipheriv, createDecipheriv, createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { MINUTE, shift } from "../../shared/clock.ts";

export const CAPTCHA_TTL = 5 * MINUTE;

/** What a captcha id holds, readable only with the key it was sealed with. */
export interface CaptchaChallenge {
  /** 32 hex digits, unique; marks the challenge as used. */
  readonly id: string;
  readonly answer: string;
  readonly expiresAt: Date;
}

const NONCE = 12;
const TAG = 16;
const ID = 16;
const EXPIRY = 8;
const LONGEST_ANSWER = 64;
/** Base64url of the longest token; anything longer is refused unread. */
const LONGEST_TOKEN = Math.ceil(((NONCE + ID + EXPIRY + LONGEST_ANSWER + TAG) * 4) / 3);

/**
 * A captcha id that can be opened for `CAPTCHA_TTL` from `now`: AES-256-GCM over a random id, the expiry and the answer, so that it
 * can be neither read nor changed without `key` (32 bytes). Base64url, 16 bytes of tag last.
 */
export function sealCaptcha(answer: string, key: Uint8Array, now: Date): string {
  const nonce = randomBytes(NONCE);
  const expiry = Buffer.alloc(EXPIRY);
  expiry.writeBigUInt64BE(BigInt(shift(now, CAPTCHA_TTL).getTime()));
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG });
  const sealed = [cipher.update(Buffer.concat([randomBytes(ID), expiry, Buffer.from(answer)])), cipher.final()];
  return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString("base64url");
}

/** The challenge behind a captcha id, or undefined if it was not issued here, was changed, or has expired. Never throws. */
export function openCaptcha(captchaId: string, key: Uint8Array, now: Date): CaptchaChallenge | undefined {
  if (captchaId.length > LONGEST_TOKEN) return undefined;
  const bytes = Buffer.from(captchaId, "base64url");
  // Decoding skips what is not base64url; only the exact text that was issued may be opened.
  if (bytes.length < NONCE + ID + EXPIRY + TAG || bytes.toString("base64url") !== captchaId) return undefined;
  const plain = decrypt(bytes, key);
  if (!plain) return undefined;
  const expiresAt = new Date(Number(plain.readBigUInt64BE(ID)));
  if (now.getTime() >= expiresAt.getTime()) return undefined;
  return { id: plain.toString("hex", 0, ID), answer: plain.toString("utf8", ID + EXPIRY), expiresAt };
}

/** True if the given text is the expected answer, apart from case and surrounding space; takes the same time either way. */
export function sameAnswer(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function decrypt(bytes: Buffer, key: Uint8Array): Buffer | undefined {
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAuthTag(bytes.subarray(-TAG));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]);
  } catch {
    // The tag does not match: not sealed with this key, or changed since. There is nothing to report.
    return undefined;
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text.trim().toUpperCase()).digest();
}
