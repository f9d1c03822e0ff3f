/** /auth/totp: one's own authenticator app. */

import * as v from "valibot";
import { CHALLENGE, CONFIRMED, CONFIRMING, Confirmation, NOT_CONFIRMED, typedCode } from "./confirmation.ts";
import { described, statusOf, timestamp } from "./fields.ts";
import { adminsSettingUp, type Routes } from "./route.ts";

const AppRecord = v.pipe(
  v.object({
    added: v.pipe(v.boolean(), v.examples([true])),
    created_at: v.nullable(timestamp),
    last_used_at: v.nullable(timestamp),
  }),
  v.title("AuthenticatorApp"),
);

const NewAppSecret = v.pipe(
  v.object({
    secret: described("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "Base32. Shown here and never again"),
    uri: described(
      "otpauth://totp/login.example.org:root-admin?issuer=login.example.org&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30",
    ),
    picture: described('<svg xmlns="http://www.w3.org/2000/svg"></svg>', "The same for a phone's camera; SVG"),
    ticket: described(CHALLENGE, "Send it with the first code, within 5 minutes"),
  }),
  v.title("AuthenticatorSecret"),
);

const NewApp = v.pipe(
  v.object({
    ticket: v.pipe(v.string(), v.maxLength(1024, "is too long"), v.examples([CHALLENGE])),
    code: typedCode,
  }),
  v.title("NewAuthenticatorApp"),
);

const SET_UP = "An authenticator app is set up already";

export const totp = {
  "GET /auth/totp": {
    operationId: "getAuthenticatorApp",
    summary: "Whether an authenticator app is set up",
    who: adminsSettingUp,
    answer: AppRecord,
  },
  "POST /auth/totp/begin": {
    operationId: "beginAuthenticatorApp",
    summary: "Get a secret for an authenticator app",
    description: `${CONFIRMED} Nothing is stored until a code confirms it.`,
    who: adminsSettingUp,
    records: "auth.totp_add",
    body: Confirmation,
    answer: NewAppSecret,
    refusals: { ...CONFIRMING, 409: SET_UP },
    reasons: [...NOT_CONFIRMED, "totp.taken"],
  },
  "POST /auth/totp": {
    operationId: "addAuthenticatorApp",
    summary: "Set up an authenticator app",
    description:
      "The first code that it shows confirms the secret. Its owner is mailed. From then on a password alone no longer logs in.",
    who: adminsSettingUp,
    records: "auth.totp_add",
    body: NewApp,
    status: 201,
    answer: AppRecord,
    refusals: { 409: SET_UP },
    reasons: ["totp.taken", "totp.expired", "totp.wrong"],
  },
  "DELETE /auth/totp": {
    operationId: "removeAuthenticatorApp",
    summary: "Remove one's own authenticator app",
    description: `Its codes log in no more; sessions stay open. Its owner is mailed. ${CONFIRMED}`,
    who: adminsSettingUp,
    records: "auth.totp_remove",
    body: Confirmation,
    bodyAs: "optional",
    answer: statusOf("removed"),
    refusals: { ...CONFIRMING, 404: true, 409: "The last second factor, where `UAM_ADMIN_LOGIN` asks for one" },
    reasons: [...NOT_CONFIRMED, "totp.missing", "factor.last"],
  },
} as const satisfies Routes;
