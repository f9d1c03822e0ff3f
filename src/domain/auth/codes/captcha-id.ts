/** Captcha challenges without a store: the id carries its own sealed answer. */

import { createHash, timingSafeEqual } from "node:crypto";
import { MINUTE, shift } from "../../../shared/time/clock.ts";
import { type SealedTicket, type Sealing, sealTicket, unsealTicket } from "../sealed.ts";

export const CAPTCHA_TTL = 5 * MINUTE;

/** A captcha id that can be opened for `CAPTCHA_TTL` from `now`; without `key` (32 bytes) the answer can be neither read nor changed. */
export function sealCaptcha(answer: string, key: Uint8Array, now: Date): string {
  return sealTicket(sealing(key), { payload: answer, expiresAt: shift(now, CAPTCHA_TTL) });
}

/** The challenge behind a captcha id, its answer as payload; undefined if it was not issued here, was changed, or has expired. Never throws. */
export function openCaptcha(captchaId: string, key: Uint8Array, now: Date): SealedTicket | undefined {
  return unsealTicket(sealing(key), captchaId, now);
}

/** True if the given text is the expected answer, apart from case and surrounding space; takes the same time either way. */
export function sameAnswer(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

/** The key is for captchas alone, which is purpose enough. */
function sealing(key: Uint8Array): Sealing {
  return { key, purpose: "" };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text.trim().toUpperCase()).digest();
}
