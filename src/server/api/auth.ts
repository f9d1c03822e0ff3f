/** /auth: logging in and out. */

import { Elysia } from "elysia";
import type * as v from "valibot";
import {
  AdminForgot,
  AdminLogin,
  AdminPassword,
  AdminReset,
  Captcha,
  OtpLogin,
  OtpSend,
  PrincipalRecord,
  SecondStep,
} from "../../contract/auth.ts";
import { askForSecond, loginAdmin } from "../../domain/auth/admin-login.ts";
import { forgotPassword, resetPassword } from "../../domain/auth/admin-reset.ts";
import { issueCaptcha } from "../../domain/auth/captchas.ts";
import { loginWithCode, sendCode } from "../../domain/auth/otp.ts";
import { logout } from "../../domain/auth/sessions.ts";
import { UamError } from "../../shared/errors.ts";
import { principalRecord } from "../records.ts";
import { anonymous, anonymousBody, cookieSet, requireLogin, requireSession, setSessionCookie } from "./elysia.ts";
import { tokenOf } from "./request.ts";
import { data, responses, statusOf } from "./schemas.ts";
import type { Web } from "./web.ts";

const Sent = statusOf("sent");

/** A captcha that was solved beside a password, where one was. */
function solvedIn({ captcha_id: captchaId, captcha_code: answer }: v.InferOutput<typeof AdminPassword>) {
  return captchaId === undefined || answer === undefined ? undefined : { captchaId, answer };
}

export function authRoutes(web: Web) {
  return new Elysia({ prefix: "/auth" })
    .use(captchaRoutes(web))
    .use(codeRoutes(web))
    .use(loginRoutes(web))
    .use(forgotRoutes(web))
    .use(sessionRoutes(web));
}

function captchaRoutes(web: Web) {
  return new Elysia().use(anonymous(web, "captcha")).get(
    "/captcha",
    async ({ context }) => {
      const { captchaId, png, proof = null } = await issueCaptcha(context);
      const image = png === undefined ? "" : `data:image/png;base64,${Buffer.from(png).toString("base64")}`;
      return { data: { captcha_id: captchaId, image, proof } };
    },
    {
      response: responses(data(Captcha), 429),
      detail: {
        operationId: "getCaptcha",
        summary: "Get a captcha",
        description:
          "An image with a text, and beside it a proof of work: asking for a one-time code needs one of the two. `UAM_CAPTCHA` can leave one out.",
      },
    },
  );
}

function codeRoutes(web: Web) {
  return new Elysia().use(anonymous(web, "code")).post(
    "/otp/send",
    async ({ context, body }) => {
      await sendCode(context, body.username, { captchaId: body.captcha_id, answer: body.captcha_code });
      return { data: { status: "sent" as const } };
    },
    {
      parse: anonymousBody(web, "code"),
      body: OtpSend,
      response: responses(Sent, 400, 429),
      detail: {
        operationId: "sendCode",
        summary: "Send a one-time code by e-mail",
        description:
          "The captcha can be used once, right or wrong. The answer is the same for users who are unknown, disabled or expired. One code a minute per username.",
      },
    },
  );
}

function forgotRoutes(web: Web) {
  return new Elysia().use(anonymous(web, "forgot")).post(
    "/admin/forgot",
    async ({ context, body }) => {
      await forgotPassword(context, body.username);
      return { data: { status: "sent" as const } };
    },
    {
      parse: anonymousBody(web, "forgot"),
      body: AdminForgot,
      response: responses(Sent, 400, 429),
      detail: {
        operationId: "forgotPassword",
        summary: "Send an administrator a reset token by e-mail",
        description:
          "The answer is the same for unknown names, and for somebody whose invitation is still valid, which stays so. One mail a minute per username; a new token voids the one before.",
      },
    },
  );
}

function loginRoutes(web: Web) {
  const parse = anonymousBody(web, "login");
  const response = responses(data(PrincipalRecord), 400, 401, 429);
  return new Elysia()
    .use(anonymous(web, "login"))
    .post(
      "/admin/login",
      async ({ context, body, request, cookie }) => {
        const { username, captcha_id: _, captcha_code: __, ...proof } = body;
        const all = { ...proof, captcha: solvedIn(body) };
        const session = await loginAdmin(context, username, all, tokenOf(request));
        setSessionCookie(web, cookie, session);
        return { data: principalRecord(session.principal) };
      },
      {
        parse,
        body: AdminLogin,
        response,
        detail: {
          operationId: "loginAdmin",
          summary: "Log in as an administrator",
          description:
            "An administrator who has a passkey or an authenticator app sends one of them beside the password: `passkey`, an answer to what `POST /auth/admin/second` gave, or `code`. Without, the answer to a right password is 401 with `Uam-Error: login.second_factor`. Replaces the session of the request, if any. Repeated failures lock the login for a while. Where that is 429 `service.busy`, because strangers ask for too much at once, a solved captcha (`captcha_id`, `captcha_code`) finds a place that is kept from them.",
          responses: cookieSet,
        },
      },
    )
    .post(
      "/admin/second",
      async ({ context, body }) => ({
        data: await askForSecond(context, body.username, { password: body.password, captcha: solvedIn(body) }),
      }),
      {
        parse,
        body: AdminPassword,
        response: responses(data(SecondStep), 400, 401, 409, 429),
        detail: {
          operationId: "askForSecondStep",
          summary: "Ask what an administrator's login needs beside the password",
          description:
            "For whoever has the right password; a wrong one counts as a failed login does. Nothing is opened: the login itself is sent again, with a passkey or a code.",
          responses: {
            409: {
              description: "`UAM_BASE_URL` is an address at which browsers use no passkeys. Final until that changes",
            },
          },
        },
      },
    )
    .post(
      "/otp/login",
      async ({ context, body, request, cookie }) => {
        const session = await loginWithCode(context, body.username, body.code, tokenOf(request));
        setSessionCookie(web, cookie, session);
        return { data: principalRecord(session.principal) };
      },
      {
        parse,
        body: OtpLogin,
        response,
        detail: {
          operationId: "loginWithCode",
          summary: "Log in as an external user with a one-time code",
          description: "Replaces the session of the request, if any. The code is valid once.",
          responses: cookieSet,
        },
      },
    )
    .post(
      "/admin/reset",
      async ({ context, body }) => {
        await resetPassword(context, body.token, body.new_password);
        return { data: { status: "reset" as const } };
      },
      {
        parse,
        body: AdminReset,
        response: responses(statusOf("reset"), 400, 429),
        detail: {
          operationId: "resetPassword",
          summary: "Set a new administrator password with a mailed token",
          description: "Ends all sessions of that administrator, revokes their tokens, and unlocks their login.",
        },
      },
    );
}

function sessionRoutes(web: Web) {
  return new Elysia().use(logoutRoutes(web)).use(principalRoutes(web));
}

function logoutRoutes(web: Web) {
  return new Elysia().use(requireLogin(web, "session")).post(
    "/logout",
    async ({ context, session, cookie, set }) => {
      await logout(context, session.principal, session.token);
      setSessionCookie(web, cookie, undefined);
      // Whoever uses the browser next finds nothing of the session in it.
      set.headers["clear-site-data"] = '"cache", "storage"';
      return { data: { status: "logged_out" as const } };
    },
    {
      response: responses(statusOf("logged_out"), 400, 401),
      detail: {
        operationId: "logout",
        summary: "End the session",
        description: "The session ends in the database, and the cookie is cleared.",
        responses: cookieSet,
      },
    },
  );
}

function principalRoutes(web: Web) {
  return new Elysia().use(requireSession(web, "session")).get(
    "/me",
    ({ session }) => {
      if (session.principal.email === undefined)
        throw new UamError("unauthorized", "The user of this session was deleted");
      return { data: principalRecord(session.principal) };
    },
    {
      response: responses(data(PrincipalRecord), 401),
      detail: {
        operationId: "getPrincipal",
        summary: "Who is logged in",
        description:
          "The administrator or user whom the session belongs to; with a token its owner, with the lesser of both roles.",
      },
    },
  );
}
