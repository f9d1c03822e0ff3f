/** /auth/totp: one's own authenticator app. */

import * as v from "valibot";
import { CHALLENGE, typedCode } from "./confirmation.ts";
import { described, timestamp } from "./fields.ts";

export const AppRecord = v.pipe(
  v.object({
    added: v.pipe(v.boolean(), v.examples([true])),
    created_at: v.nullable(timestamp),
    last_used_at: v.nullable(timestamp),
  }),
  v.title("AuthenticatorApp"),
);

export const NewAppSecret = v.pipe(
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

export const NewApp = v.pipe(
  v.object({
    ticket: v.pipe(v.string(), v.maxLength(1024, "is too long"), v.examples([CHALLENGE])),
    code: typedCode,
  }),
  v.title("NewAuthenticatorApp"),
);
