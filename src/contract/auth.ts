/** /auth: logging in and out. */

import * as v from "valibot";
import { PASSWORD_MAX, PASSWORD_MIN } from "../shared/product/password-length.ts";
import { ADMIN_ROLES } from "../shared/product/statuses.ts";
import { challengeOrNone, NO_PASSKEYS_HERE, PasskeyAnswer, typedCode } from "./confirmation.ts";
import { described, expiry, id, person, statusOf, text } from "./fields.ts";
import { anyoneWithin, COOKIE_SET, loggedIn, ownLogin, type Routes } from "./route.ts";

const PASSWORD = "seven lanterns over cold water";
/** A captcha's id and a reset token are sealed or random; these only look like them and open nothing. */
const CAPTCHA_ID = "Zk1qS0xXc2JmR3l0TnBPdQ";
const TOKEN = "bm90IGEgdG9rZW4sIGp1c3QgYW4gZXhhbXBsZSBvZjE";

const username = bounded("alice", 128);
const adminName = bounded("root-admin", 128);

/** A text with a length bounded here, since no feature checks it before work is done. */
function bounded(example: string, most: number, facts: Readonly<Record<string, unknown>> = {}) {
  return v.pipe(text(example), v.maxLength(most, "is too long"), v.metadata(facts));
}

export const PrincipalRecord = v.pipe(
  v.object({
    user_type: v.picklist(["admin", "user"]),
    id,
    username: described("root-admin", "Without the prefix `ext_` for external users"),
    email: person.email,
    role: v.optional(v.pipe(v.picklist(ADMIN_ROLES), v.description("Of an administrator; users have none"))),
    needs: v.optional(
      v.pipe(
        v.picklist(["second-factor", "passkey"]),
        v.description("The factor that an administrator must set up first; until then the session may do nothing else"),
      ),
    ),
    token: v.optional(
      v.pipe(
        v.object({ id, name: described("nightly report"), expires_at: expiry }),
        v.description("Where a token was used instead of a session"),
      ),
    ),
  }),
  v.title("Principal"),
);

export const Captcha = v.pipe(
  v.object({
    captcha_id: described(CAPTCHA_ID, "Send it with the answer. It can be used once, right or wrong, within 5 minutes"),
    image: v.pipe(
      v.string(),
      v.regex(/^(?:data:image\/png;base64,.*)?$/),
      v.metadata({
        description: "A PNG as a base64 data URI; empty where only the proof counts",
        examples: ["data:image/png;base64,iVBORw0KGgo="],
      }),
    ),
    proof: v.pipe(
      v.nullable(
        v.object({
          algorithm: v.literal("SHA-256"),
          salt: described("9f2b1c3d4e5f6071"),
          target: described("f7f79ccaae1a1c3b5d2f06b7a9d1b1c6a5d27d6f3f0c5f24ab9b0a3b0d1d9c11"),
          maximum: v.pipe(v.number(), v.integer(), v.minValue(0), v.examples([500_000])),
        }),
      ),
      v.description(
        "Instead of reading the image: the whole number `n` from 0 to `maximum` of which the SHA-256 of `salt` followed by `n` in decimal is `target`, in hex. Null where only the image counts",
      ),
    ),
  }),
  v.title("Captcha"),
);

export const OtpSend = v.pipe(
  v.object({
    username,
    captcha_id: described(CAPTCHA_ID, "From `/auth/captcha`"),
    captcha_code: described(
      "HPXCM",
      "The text in the image, in upper or lower case; or `pow:` and the number that solves the proof",
    ),
  }),
  v.title("CodeRequest"),
);

export const OtpLogin = v.pipe(
  v.object({
    username,
    code: v.pipe(
      v.string(),
      v.maxLength(64, "is too long"),
      v.metadata({ description: "8 digits; spaces and dashes do not count", examples: ["4091 7352"] }),
    ),
  }),
  v.title("CodeLogin"),
);

const nameAndPassword = {
  username: adminName,
  password: v.pipe(
    v.string(),
    v.maxLength(1024, "is too long"),
    v.metadata({ format: "password", examples: [PASSWORD] }),
  ),
  captcha_id: v.optional(described(CAPTCHA_ID, "From `/auth/captcha`, where the service is too busy for strangers")),
  captcha_code: v.optional(described("HPXCM", "The answer to it, as where a code is asked for")),
};

export const AdminPassword = v.pipe(v.object(nameAndPassword), v.title("AdminPassword"));

export const AdminLogin = v.pipe(
  v.object({ ...nameAndPassword, code: v.optional(typedCode), passkey: v.optional(PasskeyAnswer) }),
  v.title("AdminLogin"),
);

export const AdminForgot = v.pipe(v.object({ username: adminName }), v.title("ForgottenPassword"));

export const AdminReset = v.pipe(
  v.object({
    token: described(TOKEN, "From the mail. It can be used once, within 30 minutes"),
    new_password: described(PASSWORD, "Not a common one, and without the username in it", {
      format: "password",
      minLength: PASSWORD_MIN,
      maxLength: PASSWORD_MAX,
    }),
  }),
  v.title("PasswordReset"),
);

export const SecondStep = v.pipe(
  v.object({
    passkey: challengeOrNone,
    totp: v.pipe(v.boolean(), v.examples([true]), v.description("Whether `code` can be sent instead")),
  }),
  v.title("SecondStep"),
);

export const auth = {
  "GET /auth/captcha": {
    operationId: "getCaptcha",
    summary: "Get a captcha",
    description:
      "An image with a text, and beside it a proof of work: asking for a one-time code needs one of the two. `UAM_CAPTCHA` can leave one out.",
    who: anyoneWithin("captcha"),
    answer: Captcha,
    reasons: ["service.busy"],
  },
  "POST /auth/otp/send": {
    operationId: "sendCode",
    summary: "Send a one-time code by e-mail",
    description:
      "The captcha can be used once, right or wrong. The answer is the same for unknown, disabled and expired users. One code a minute per username.",
    who: anyoneWithin("code"),
    body: OtpSend,
    answer: statusOf("sent"),
    reasons: ["captcha.wrong", "code.cooldown", "login.locked", "service.busy"],
  },
  "POST /auth/admin/forgot": {
    operationId: "forgotPassword",
    summary: "Send an administrator a reset token by e-mail",
    description:
      "The answer is the same for unknown names, and for administrators with a valid invitation, which stays valid. One mail a minute per username; a new token voids the one before.",
    who: anyoneWithin("forgot"),
    body: AdminForgot,
    answer: statusOf("sent"),
  },
  "POST /auth/admin/login": {
    operationId: "loginAdmin",
    summary: "Log in as an administrator",
    description:
      "An administrator who has a passkey or an authenticator app sends one of them beside the password: `passkey`, an answer to what `POST /auth/admin/second` gave, or `code`. Without, the answer to a right password is 401 with `Uam-Error: login.second_factor`. Replaces the session of the request, if any. Repeated failures lock the login for a while. Where that is 429 `service.busy`, because strangers ask for too much at once, a solved captcha (`captcha_id`, `captcha_code`) finds a place that is kept from them.",
    who: anyoneWithin("login"),
    isLogin: true,
    body: AdminLogin,
    answer: PrincipalRecord,
    success: COOKIE_SET,
    refusals: { 401: true },
    reasons: [
      "login.wrong",
      "login.second_factor",
      "login.code_wrong",
      "login.passkey_wrong",
      "login.passkey_only",
      "login.locked",
      "captcha.wrong",
      "service.busy",
    ],
  },
  "POST /auth/admin/second": {
    operationId: "askForSecondStep",
    summary: "Ask what an administrator's login needs beside the password",
    description:
      "For a caller with the right password; a wrong one counts as a failed login. Nothing is opened: the login itself is sent again, with a passkey or a code.",
    who: anyoneWithin("login"),
    isLogin: true,
    body: AdminPassword,
    answer: SecondStep,
    refusals: { 401: true, 409: NO_PASSKEYS_HERE },
    reasons: ["login.wrong", "login.locked", "captcha.wrong", "service.busy", "passkey.unavailable"],
  },
  "POST /auth/otp/login": {
    operationId: "loginWithCode",
    summary: "Log in as an external user with a one-time code",
    description: "Replaces the session of the request, if any. The code is valid once.",
    who: anyoneWithin("login"),
    isLogin: true,
    body: OtpLogin,
    answer: PrincipalRecord,
    success: COOKIE_SET,
    refusals: { 401: true },
    reasons: ["code.wrong", "code.cooldown", "login.locked", "service.busy"],
  },
  "POST /auth/admin/reset": {
    operationId: "resetPassword",
    summary: "Set a new administrator password with a mailed token",
    description: "Ends all sessions of that administrator, revokes their tokens, and unlocks their login.",
    who: anyoneWithin("login"),
    body: AdminReset,
    answer: statusOf("reset"),
    reasons: ["reset.wrong", "password.weak", "service.busy"],
  },
  "POST /auth/logout": {
    operationId: "logout",
    summary: "End the session",
    description: "The session ends in the database, and the cookie is cleared.",
    who: ownLogin,
    onlyTakesAway: true,
    answer: statusOf("logged_out"),
    success: COOKIE_SET,
  },
  "GET /auth/me": {
    operationId: "getPrincipal",
    summary: "Who is logged in",
    description: "The owner of the session; with a token its owner, with the lesser of both roles.",
    who: loggedIn,
    answer: PrincipalRecord,
  },
} as const satisfies Routes;
