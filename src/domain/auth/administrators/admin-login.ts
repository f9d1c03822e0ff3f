/**
 * Administrators log in: with a password, a password and a second factor, or a passkey. Every request carries everything that is needed,
 * so there is no half-finished login to store.
 */

import { eq } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import type { LoginWay } from "../../../shared/product/statuses.ts";
import { type AdminRow, admins } from "../../../store/schema-auth.ts";
import { parseTypedAdminName } from "../../accounts/username.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Operation } from "../../operation/context.ts";
import { forgetFailures } from "../codes/attempts.ts";
import type { CaptchaAnswer } from "../codes/captchas.ts";
import { readFactors } from "../factors/factors.ts";
import {
  ANYBODY,
  askForPasskey,
  boundTo,
  type CheckedPasskey,
  checkPasskey,
  findPasskey,
  passkeyRefused,
  usePasskey,
} from "../factors/passkey-use.ts";
import { returnRightAttempt, tryPassword, unlock, wrongLogin } from "../factors/password.ts";
import { type CheckedCode, checkCode, useCode } from "../factors/totp.ts";
import type { PasskeyAnswer, RequestOptions } from "../factors/webauthn.ts";
import { findAdmin } from "../find-administrator.ts";
import { type Factors, missingOf } from "../required-factors.ts";
import { type NewSession, openSession } from "../sessions/sessions.ts";

/** A password, and one second factor if there is any. */
export interface AdminProof {
  readonly password: string;
  /** Of an authenticator app. */
  readonly code?: string | undefined;
  /** To a challenge of `askForSecond`. */
  readonly passkey?: PasskeyAnswer | undefined;
  /** A solved captcha, if the service is too busy for strangers. */
  readonly captcha?: CaptchaAnswer | undefined;
}

/** The possible second steps of a login. */
export interface SecondStep {
  /** The options for the browser; null without a passkey. */
  readonly passkey: RequestOptions | null;
  readonly totp: boolean;
}

/**
 * Opens a session for the right password, and the right second factor if the administrator has one. Throws `unauthorized` for a wrong or missing
 * credential, and `limited` while the name is locked, even for the right password; unknown names lock the same way. At most the limit of
 * simultaneous guesses is evaluated, because each claims its attempt first.
 */
export async function loginAdmin(
  context: Context,
  typedName: string,
  proof: AdminProof,
  replaces?: string,
): Promise<NewSession> {
  const username = parseTypedAdminName(typedName);
  const entered = await audited(
    context,
    { action: "auth.admin_login", ...(await entryAbout(context, username)) },
    {
      prepare: async () => {
        const admin = await tryPassword(context, username, proof.password, proof.captcha);
        if (admin === undefined) throw wrongLogin();
        return { verified: admin, second: await checkSecond(context, admin, proof) };
      },
      run: async (op, { verified, second }) => {
        if (second instanceof UamError) {
          // Recorded with its own action, below.
          op.record({ unneeded: true });
          return second;
        }
        await unlock(op.tx, username);
        if (second?.code !== undefined) await forgetFailures(op.tx, "totp", username);
        // Locked: of a login and a reset at the same time, the reset ends the session or the login sees the new password.
        const [admin] = await op.tx.select().from(admins).where(eq(admins.username, username)).for("update");
        // The administrator was removed, or the password changed, while this one was being verified.
        if (admin?.passwordHash !== verified.passwordHash) throw wrongLogin();
        const way = await useSecond(op, admin, second);
        return way === undefined ? undefined : await enter(op, admin, way, replaces);
      },
    },
  );
  if (entered instanceof UamError) return await recordPasswordOnly(context, username, () => Promise.reject(entered));
  if (entered === undefined) throw passkeyRefused();
  return entered;
}

/** Records a right password without a second factor: the sender knows the password all the same. */
async function recordPasswordOnly<T>(context: Context, username: string, work: () => Promise<T>): Promise<T> {
  return await audited(context, { action: "auth.admin_password_only", detail: { username } }, work);
}

/**
 * Opens a session for a passkey alone. Throws `unauthorized`, with the same words and timing, whether the passkey is unknown or its answer is
 * wrong. A name that is locked for wrong passwords is not locked for passkeys, because nobody can guess those.
 */
export async function loginWithPasskey(
  context: Context,
  answer: PasskeyAnswer,
  replaces?: string,
): Promise<NewSession> {
  const found = await findPasskey(context, answer);
  const about = found === undefined ? undefined : { username: found.username, name: found.passkey.name };
  const session = await audited(
    context,
    { action: "auth.admin_login", detail: { ...about, way: "passkey" } },
    {
      prepare: async () => {
        const checked = await checkPasskey(context, ANYBODY, answer, found);
        if (checked === undefined) throw passkeyRefused();
        return checked;
      },
      run: async (op, checked) => {
        const [admin] = await op.tx.select().from(admins).where(eq(admins.id, checked.passkey.adminId)).for("update");
        if (admin === undefined) throw passkeyRefused();
        return (await usePasskey(op, admin, checked)) ? await enter(op, admin, "passkey", replaces) : undefined;
      },
    },
  );
  if (session === undefined) throw passkeyRefused();
  return session;
}

/**
 * The possible second steps of the login, after the right password: with the same refusals, limits and records as a login. The right
 * password is recorded too.
 */
export async function askForSecond(
  context: Context,
  typedName: string,
  { password, captcha }: Pick<AdminProof, "password" | "captcha">,
): Promise<SecondStep> {
  const username = parseTypedAdminName(typedName);
  const admin = await audited(
    context,
    { action: "auth.admin_login", ...(await entryAbout(context, username)) },
    {
      prepare: async () => {
        const admin = await tryPassword(context, username, password, captcha);
        if (admin === undefined) throw wrongLogin();
        await returnRightAttempt(context, username);
        return admin;
      },
      run: async (op, admin) => {
        // Nobody logged in yet.
        op.record({ unneeded: true });
        return admin;
      },
    },
  );
  return await recordPasswordOnly(context, username, async () => {
    const passkey = await askForPasskey(context, boundTo("second-factor", admin), admin);
    return { passkey, totp: (await readFactors(context.autocommit, admin.id)).totp };
  });
}

/** An unknown name may be a password in the wrong field, so it is not recorded. */
async function entryAbout(context: Context, username: string) {
  const known = await findAdmin(context.autocommit, username);
  return known === undefined ? {} : { detail: { username } };
}

/** A second factor whose answer is right. */
interface CheckedSecond {
  readonly passkey?: CheckedPasskey;
  readonly code?: CheckedCode;
}

/**
 * Checks the second factor that was sent; returns the refusal if it is missing or not accepted. If the login ends here, the password was
 * right all the same: it is not a failed attempt.
 */
async function checkSecond(
  context: Context,
  admin: AdminRow,
  { code, passkey }: AdminProof,
): Promise<CheckedSecond | UamError | undefined> {
  try {
    const factors = await readFactors(context.autocommit, admin.id);
    const refusal = lacksSecond(context, factors, { passkey: passkey !== undefined, code: code !== undefined });
    if (refusal !== undefined) {
      await returnRightAttempt(context, admin.username);
      return refusal;
    }
    if (passkey !== undefined) {
      const binding = boundTo("second-factor", admin);
      const checked = await checkPasskey(context, binding, passkey, await findPasskey(context, passkey));
      if (checked?.passkey.adminId !== admin.id) throw passkeyRefused();
      return { passkey: checked };
    }
    if (code === undefined || !factors.totp) return undefined;
    const checked = await checkCode(context, admin, code);
    if (checked === undefined) throw wrongCode();
    return { code: checked };
  } catch (error) {
    await returnRightAttempt(context, admin.username);
    throw error;
  }
}

/** The refusal if the password and the factors beside it are not enough. */
function lacksSecond(
  { policy }: Context,
  { passkeys, totp }: Factors,
  sent: { readonly passkey: boolean; readonly code: boolean },
): UamError | undefined {
  if (policy.adminLogin === "passkey" && passkeys > 0) {
    const sentence = "This service lets administrators in with a passkey only; log in with yours";
    return new UamError("unauthorized", sentence, { reason: "login.passkey_only" });
  }
  if ((passkeys === 0 && !totp) || (passkeys > 0 && sent.passkey) || (totp && sent.code)) return undefined;
  const what = [...(passkeys > 0 ? ["a passkey"] : []), ...(totp ? ["a code of the authenticator app"] : [])];
  const sentence = `The password is right; this login also needs ${what.join(" or ")}. Ask at /auth/admin/second what to send`;
  return new UamError("unauthorized", sentence, { reason: "login.second_factor" });
}

/** Uses the second factor up, and returns how the login went; undefined for a passkey whose refusal is recorded. */
async function useSecond(
  op: Operation,
  admin: AdminRow,
  second: CheckedSecond | undefined,
): Promise<LoginWay | undefined> {
  // Checked again under the lock: a factor may have been added since.
  const sent = { passkey: second?.passkey !== undefined, code: second?.code !== undefined };
  const refusal = lacksSecond(op.context, await readFactors(op.tx, admin.id), sent);
  if (refusal !== undefined) throw refusal;
  if (second?.passkey !== undefined) {
    return (await usePasskey(op, admin, second.passkey)) ? "password+passkey" : undefined;
  }
  if (second?.code === undefined) return "password";
  if (!(await useCode(op, admin, second.code))) throw wrongCode();
  return "password+totp";
}

async function enter(op: Operation, admin: AdminRow, way: LoginWay, replaces: string | undefined): Promise<NewSession> {
  const { clock, actor, policy } = op.context;
  await op.tx.update(admins).set({ lastLoginAt: clock.now() }).where(eq(admins.id, admin.id));
  // Only now is it known who asked.
  op.record({ actor: { ...actor, type: "admin", name: admin.username }, detail: { username: admin.username, way } });
  const { id, username, email, role } = admin;
  const needs = way === "passkey" ? undefined : missingOf(policy.adminLogin, await readFactors(op.tx, id));
  const principal = { userType: "admin", id, username, email, role, way, ...(needs && { needs }) } as const;
  return await openSession(op.tx, op.context, principal, replaces);
}

function wrongCode(): UamError {
  return new UamError(
    "unauthorized",
    "The code is wrong, or was used before; the app shows a new one every 30 seconds",
    {
      reason: "login.code_wrong",
    },
  );
}
