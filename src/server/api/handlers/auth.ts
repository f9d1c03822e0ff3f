/** /auth: logging in and out. */

import type { auth } from "../../../contract/auth.ts";
import { askForSecond, loginAdmin } from "../../../domain/auth/administrators/admin-login.ts";
import { forgotPassword, resetPassword } from "../../../domain/auth/administrators/admin-reset.ts";
import { issueCaptcha } from "../../../domain/auth/codes/captchas.ts";
import { loginWithCode, sendCode } from "../../../domain/auth/codes/otp.ts";
import { logout } from "../../../domain/auth/sessions/sessions.ts";
import { UamError } from "../../../shared/errors.ts";
import { principalRecord } from "../../records.ts";
import type { Handlers } from "../http/call.ts";
import { tokenOf } from "../http/session-cookie.ts";

export const authHandlers: Handlers<typeof auth> = {
  "GET /auth/captcha": async ({ context }) => {
    const { captchaId, png, proof = null } = await issueCaptcha(context);
    const image = png === undefined ? "" : `data:image/png;base64,${Buffer.from(png).toString("base64")}`;
    return { captcha_id: captchaId, image, proof };
  },

  "POST /auth/otp/send": async ({ context, body }) => {
    await sendCode(context, body.username, { captchaId: body.captcha_id, answer: body.captcha_code });
    return { status: "sent" };
  },

  "POST /auth/admin/forgot": async ({ context, body }) => {
    await forgotPassword(context, body.username);
    return { status: "sent" };
  },

  "POST /auth/admin/login": async ({ context, body, request, reply }) => {
    const { username, captcha_id: _, captcha_code: __, ...proof } = body;
    const all = { ...proof, captcha: solvedIn(body) };
    const session = await loginAdmin(context, username, all, tokenOf(request));
    reply.session(session);
    return principalRecord(session.principal);
  },

  "POST /auth/admin/second": async ({ context, body }) =>
    await askForSecond(context, body.username, { password: body.password, captcha: solvedIn(body) }),

  "POST /auth/otp/login": async ({ context, body, request, reply }) => {
    const session = await loginWithCode(context, body.username, body.code, tokenOf(request));
    reply.session(session);
    return principalRecord(session.principal);
  },

  "POST /auth/admin/reset": async ({ context, body }) => {
    await resetPassword(context, body.token, body.new_password);
    return { status: "reset" };
  },

  "POST /auth/logout": async ({ context, session, reply }) => {
    await logout(context, session.principal, session.token);
    reply.session(undefined);
    // The next person at the browser finds nothing of the session in it.
    reply.header("clear-site-data", '"cache", "storage"');
    return { status: "logged_out" };
  },

  "GET /auth/me": ({ session }) => {
    if (session.principal.email === undefined)
      throw new UamError("unauthorized", "The user of this session was deleted");
    return principalRecord(session.principal);
  },
};

/** A captcha that was solved beside a password, where one was. */
function solvedIn({ captcha_id: captchaId, captcha_code: answer }: Solved) {
  return captchaId === undefined || answer === undefined ? undefined : { captchaId, answer };
}

interface Solved {
  readonly captcha_id?: string | undefined;
  readonly captcha_code?: string | undefined;
}
