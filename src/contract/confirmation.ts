/** The proof that the caller is the session's owner: their password, or a passkey in the browsers' format (WebAuthn's JSON; binary data is base64url). */

import * as v from "valibot";
import type { Reason } from "../shared/product/reasons.ts";
import { described } from "./fields.ts";
import type { Refusals } from "./route.ts";

/** Only looks like a challenge, and opens nothing. */
export const CHALLENGE = "bm90IGEgY2hhbGxlbmdlLCBqdXN0IGFuIGV4YW1wbGUgb2YgaG93IG9uZSBsb29rcw";
export const CREDENTIAL_ID = "AQIDBAUGBwgJCgsMDQ4PEA";

/** Longer than anything that a browser answers. */
const LONGEST = 16_384;

export function binary(description: string, example = "AQIDBA") {
  return v.pipe(
    v.string(),
    v.maxLength(LONGEST, "is too long"),
    v.regex(/^[\w-]*$/, "must be base64url"),
    v.metadata({ description: `${description}; base64url`, examples: [example] }),
  );
}

export const descriptors = v.array(
  v.object({
    type: v.literal("public-key"),
    id: described(CREDENTIAL_ID),
    transports: v.pipe(v.array(v.picklist(["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"]))),
  }),
);

export const challenge = described(CHALLENGE, "To be signed once, within 5 minutes");
export const timeout = v.pipe(v.number(), v.integer(), v.examples([300_000]), v.description("Milliseconds"));

export const PasskeyRequest = v.pipe(
  v.object({
    challenge,
    rpId: described("uam.example.org", "The host of `UAM_BASE_URL`"),
    timeout,
    allowCredentials: descriptors,
    userVerification: v.literal("required"),
  }),
  v.title("PasskeyRequest"),
  v.description("For `navigator.credentials.get()`, through `PublicKeyCredential.parseRequestOptionsFromJSON()`"),
);

export const credential = {
  id: binary("The authenticator's own id for the passkey", CREDENTIAL_ID),
  rawId: binary("The same", CREDENTIAL_ID),
  type: v.literal("public-key"),
};

export const PasskeyAnswer = v.pipe(
  v.object({
    ...credential,
    response: v.object({
      clientDataJSON: binary("The browser's statement of the purpose"),
      authenticatorData: binary("The authenticator's statement"),
      signature: binary("Over both"),
      userHandle: v.nullish(binary("The owner's handle")),
    }),
  }),
  v.title("PasskeyAnswer"),
  v.description("The answer of `navigator.credentials.get()`, by its `toJSON()`; further members are ignored"),
);

/** The fields that confirm the session's owner, beside the request's own. */
export const confirmation = {
  password: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(1024, "is too long"),
      v.metadata({
        description: "The present one",
        format: "password",
        examples: ["seven lanterns over cold water"],
      }),
    ),
  ),
  passkey: v.optional(PasskeyAnswer),
};

export const Confirmation = v.pipe(
  v.object(confirmation),
  v.title("Confirmation"),
  v.description(
    "Either the password, or an answer to `GET /auth/passkeys/challenge`; neither, for a caller who has neither and has just logged in at the provider of single sign-on",
  ),
);

export const challengeOrNone = v.pipe(v.nullable(PasskeyRequest), v.description("Null without a passkey"));

/** A code as somebody types it. */
export const typedCode = v.pipe(
  v.string(),
  v.maxLength(64, "is too long"),
  v.metadata({ description: "6 digits; spaces and dashes do not count", examples: ["409 173"] }),
);

/** How a route asks again who its caller is, in its description. */
export const CONFIRMED =
  "Takes the current password, or a passkey of the caller's; a caller who has neither needs nothing within 5 minutes of a login at the provider of single sign-on. A wrong password counts as a failed login.";

/** The meaning of its refusals. */
export const CONFIRMING = {
  401: "Not logged in, or the passkey was not accepted",
  403: "The current password is wrong, or the login at the provider too long ago, or no permission, or sent from another origin",
} as const satisfies Refusals;

/** The reasons of a caller who is not confirmed. */
export const NOT_CONFIRMED: readonly Reason[] = [
  ...(["password.wrong", "login.passkey_wrong", "login.not_recent", "login.locked", "service.busy"] as const),
];

/** Why there can be no passkeys at all. */
export const UNAVAILABLE = "`UAM_BASE_URL` is an address at which browsers use no passkeys";
export const NO_PASSKEYS_HERE = `${UNAVAILABLE}. Final until that changes`;
