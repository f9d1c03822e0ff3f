/** Captchas as callers see them: asking for one stores nothing, and each is valid for one answer. */

import { lte } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { usedCaptchas } from "../../store/schema-auth.ts";
import type { Context, Services } from "../operation/context.ts";
import { openCaptcha, sameAnswer, sealCaptcha } from "./captcha.ts";
import { sharedSecret } from "./secrets.ts";

export interface IssuedCaptcha {
  readonly captchaId: string;
  readonly png: Uint8Array;
}

/** What somebody answered to a captcha. */
export interface CaptchaAnswer {
  readonly captchaId: string;
  readonly answer: string;
}

/** A new captcha; any replica can check the answer. Writes nothing, except once the key that seals captchas. */
export async function issueCaptcha(context: Pick<Context, "autocommit" | "clock">): Promise<IssuedCaptcha> {
  const key = await sharedSecret(context, "captcha");
  // The drawing code is loaded for the first captcha, not at every start.
  const { drawCaptcha } = await import("./captcha-image.ts");
  const { answer, png } = await drawCaptcha();
  return { captchaId: sealCaptcha(answer, key, context.clock.now()), png };
}

/**
 * Uses the captcha up, and throws `invalid` unless it was ours, fresh, unused and answered correctly. Committed before the
 * answer is compared, so that of any number of simultaneous answers one is checked. With `policy.captcha` off all pass.
 */
export async function consumeCaptcha(context: Context, { captchaId, answer }: CaptchaAnswer): Promise<void> {
  if (!context.policy.captcha) return;
  const key = await sharedSecret(context, "captcha");
  const challenge = openCaptcha(captchaId, key, context.clock.now());
  if (challenge === undefined) throw refused();
  const [claimed] = await context.autocommit
    .insert(usedCaptchas)
    .values({ id: challenge.id, expiresAt: challenge.expiresAt })
    .onConflictDoNothing()
    .returning({ id: usedCaptchas.id })
    .prepare("claim_captcha")
    .execute();
  if (claimed === undefined || !sameAnswer(answer, challenge.answer)) throw refused();
}

/** Deletes used captchas that have expired: nobody can answer them any more. */
export async function purgeCaptchas({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  await db.delete(usedCaptchas).where(lte(usedCaptchas.expiresAt, clock.now()));
}

/** One sentence for all causes: which one it was would only help a guesser. */
function refused(): UamError {
  const sentence = "The captcha is wrong, used or expired; ask for a new one at /auth/captcha";
  return new UamError("invalid", sentence, { reason: "captcha.wrong" });
}
