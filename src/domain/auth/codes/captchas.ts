/**
 * Captchas as callers see them: a picture with a text, and beside it a proof of work for those who cannot read pictures and for
 * pages that spare people the reading. Asking for one stores nothing, and each is valid for one answer.
 */

import { createHash, randomBytes, randomInt } from "node:crypto";
import { lte } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { usedCaptchas } from "../../../store/schema-auth.ts";
import type { Context, Services } from "../../operation/context.ts";
import { sharedSecret } from "../secrets.ts";
import { openCaptcha, sameAnswer, sealCaptcha } from "./captcha-id.ts";

export interface IssuedCaptcha {
  readonly captchaId: string;
  /** Undefined where no picture is asked for. */
  readonly png: Uint8Array | undefined;
  /** Undefined where no proof counts. */
  readonly proof: ProofOfWork | undefined;
}

/** Asks for the whole number n from 0 to `maximum` of which hex(SHA-256(salt + n)) is `target`; n as decimal digits. */
export interface ProofOfWork {
  readonly algorithm: "SHA-256";
  readonly salt: string;
  readonly target: string;
  readonly maximum: number;
}

/**
 * On average half as many hashes. @noble/hashes makes 0.6 million a second in V8 and 0.9 million in JavaScriptCore on a server's core: 0.3 to
 * 0.9 s there, and a few seconds on a slow phone. It costs a program next to nothing, as does reading the picture: the limits are the
 * protection against attackers.
 */
export const PROOF_MAXIMUM = 500_000;

/** Prefix of an answer that is a proof; no picture has a colon. */
const PROOF = "pow:";

/** An answer to a captcha. */
export interface CaptchaAnswer {
  readonly captchaId: string;
  readonly answer: string;
}

/** A new captcha; any replica can check the answer. Writes nothing, except once the key that seals captchas. */
export async function issueCaptcha(
  context: Pick<Context, "autocommit" | "clock"> & { readonly policy: Pick<Context["policy"], "captcha"> },
): Promise<IssuedCaptcha> {
  const { captcha: mode } = context.policy;
  const key = await sharedSecret(context, "captcha");
  const image = mode === "image" || mode === "both" ? await draw() : undefined;
  const work = mode === "proof" || mode === "both" ? makeProof() : undefined;
  const sealed = `${image?.answer ?? ""}${SEPARATOR}${work?.solution ?? ""}`;
  return { captchaId: sealCaptcha(sealed, key, context.clock.now()), png: image?.png, proof: work?.proof };
}

/** Between the two answers under one seal. */
const SEPARATOR = "/";

async function draw() {
  // The drawing code is loaded for the first captcha, not at every start.
  const { drawCaptcha } = await import("./captcha-image.ts");
  return await drawCaptcha();
}

function makeProof(): { readonly proof: ProofOfWork; readonly solution: number } {
  const solution = randomInt(PROOF_MAXIMUM + 1);
  const salt = randomBytes(8).toString("hex");
  const target = createHash("sha256").update(`${salt}${solution}`).digest("hex");
  return { proof: { algorithm: "SHA-256", salt, target, maximum: PROOF_MAXIMUM }, solution };
}

/**
 * Uses the captcha up, and throws `invalid` unless it was ours, fresh, unused and answered correctly. Committed before the
 * answer is compared, so that only one of several simultaneous answers is checked. With `policy.captcha` off all pass.
 */
export async function consumeCaptcha(context: Context, { captchaId, answer }: CaptchaAnswer): Promise<void> {
  if (context.policy.captcha === "off") return;
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
  if (claimed === undefined || !solves(answer, challenge.payload)) throw refused();
}

/**
 * Whether the answer is the text or the proof under the seal. A kind that was not asked for is empty there, and nothing solves it.
 */
function solves(answer: string, sealed: string): boolean {
  const [text = "", solution = ""] = sealed.split(SEPARATOR);
  const isProof = answer.trim().startsWith(PROOF);
  const given = isProof ? answer.trim().slice(PROOF.length) : answer;
  const expected = isProof ? solution : text;
  return sameAnswer(given, expected) && expected !== "";
}

/** Deletes used captchas that have expired: nobody can answer them again. */
export async function purgeCaptchas({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  await db.delete(usedCaptchas).where(lte(usedCaptchas.expiresAt, clock.now()));
}

/** One sentence for all causes: naming the cause would only help a guesser. */
function refused(): UamError {
  const sentence = "The captcha is wrong, used or expired; ask for a new one at /auth/captcha";
  return new UamError("invalid", sentence, { reason: "captcha.wrong" });
}
