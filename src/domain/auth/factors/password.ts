/** An administrator's password as a factor: verified, and locked after wrong ones. */

import { UamError } from "../../../shared/errors.ts";
import type { Transaction } from "../../../store/client.ts";
import type { AdminRow } from "../../../store/schema-auth.ts";
import type { Context } from "../../operation/context.ts";
import { type AttemptLimit, claimAttempt, forgetFailures, returnAttempt } from "../codes/attempts.ts";
import { type CaptchaAnswer, consumeCaptcha } from "../codes/captchas.ts";
import { findAdmin } from "../find-administrator.ts";

/**
 * Counts an attempt and returns the administrator with that password; the caller must then call `forgetFailures`. Undefined for a wrong name
 * or password. Throws `limited` while the name is locked, even for the right password, and `invalid` for a wrong captcha. A solved captcha
 * gets a place that strangers do not get.
 */
export async function tryPassword(
  context: Context,
  username: string,
  password: string,
  captcha?: CaptchaAnswer,
): Promise<AdminRow | undefined> {
  // First: a wrong captcha does not count as an attempt.
  if (captcha !== undefined) await consumeCaptcha(context, captcha);
  const hasSolved = captcha !== undefined && context.policy.captcha !== "off";
  const isKnown = hasSolved || context.actor.type !== "anonymous";
  await claimAttempt(context.autocommit, limitOf(context), { username, now: context.clock.now() });
  const admin = await findAdmin(context.autocommit, username);
  return (await isRight(context, { username, password, admin, isKnown })) ? admin : undefined;
}

/** Takes back the attempt that `tryPassword` counted: its password was right, but the operation may still fail. */
export async function returnRightAttempt(context: Context, username: string): Promise<void> {
  await returnAttempt(context.autocommit, limitOf(context), username);
}

/** Forgets a name's failures. Every change to an administrator begins with this: rows are locked in one order, which rules out deadlocks. */
export async function unlock(tx: Transaction, username: string): Promise<void> {
  await forgetFailures(tx, "password", username);
}

/** The answer to a logged-in caller who gives a wrong password. */
export function wrongCurrentPassword(): UamError {
  return new UamError("forbidden", "The current password is wrong", { reason: "password.wrong" });
}

interface Attempt {
  readonly username: string;
  readonly password: string;
  readonly admin: AdminRow | undefined;
  readonly isKnown: boolean;
}

async function isRight(context: Context, { username, password, admin, isKnown }: Attempt): Promise<boolean> {
  try {
    const stored = admin?.passwordHash ?? undefined;
    if (stored !== undefined) return await context.hasher.verify(stored, password, isKnown);
    // An unknown name, or an administrator without a password, takes as much time as a known one.
    await context.hasher.verifyDummy(password, isKnown);
    return false;
  } catch (error) {
    // Too many wait for the hasher: this attempt was not evaluated, so it does not count as a failure.
    if (error instanceof UamError && error.code === "limited")
      await returnAttempt(context.autocommit, limitOf(context), username);
    throw error;
  }
}

/** The answer to a login with a wrong name or password. */
export function wrongLogin(): UamError {
  return new UamError("unauthorized", "The username or the password is wrong", { reason: "login.wrong" });
}

/** Consecutive failures; every lock lasts equally long. */
function limitOf({ policy }: Context): AttemptLimit {
  const { lockoutThreshold: most, lockoutPeriod: period } = policy;
  return { kind: "password", most, period, longest: period, what: "Too many failed logins" };
}
