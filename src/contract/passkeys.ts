/** Passkeys and authenticator apps, in requests and answers. What browsers speak is as WebAuthn's JSON has it; binary data is base64url. */

import * as v from "valibot";
import { MAX_PASSKEY_NAME } from "../shared/limits.ts";
import { described, id, listOf, text, timestamp } from "./fields.ts";

/** Only looks like a challenge, and opens nothing. */
const CHALLENGE = "bm90IGEgY2hhbGxlbmdlLCBqdXN0IGFuIGV4YW1wbGUgb2YgaG93IG9uZSBsb29rcw";
const CREDENTIAL_ID = "AQIDBAUGBwgJCgsMDQ4PEA";

/** Longer than anything that a browser answers. */
const LONGEST = 16_384;

function binary(description: string, example = "AQIDBA") {
  return v.pipe(
    v.string(),
    v.maxLength(LONGEST, "is too long"),
    v.regex(/^[\w-]*$/, "must be base64url"),
    v.metadata({ description: `${description}; base64url`, examples: [example] }),
  );
}

const descriptors = v.array(
  v.object({
    type: v.literal("public-key"),
    id: described(CREDENTIAL_ID),
    transports: v.pipe(v.array(v.picklist(["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"]))),
  }),
);

const challenge = described(CHALLENGE, "To be signed once, within 5 minutes");
const timeout = v.pipe(v.number(), v.integer(), v.examples([300_000]), v.description("Milliseconds"));

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

export const PasskeyCreation = v.pipe(
  v.object({
    rp: v.object({ id: described("uam.example.org"), name: described("User access, login.example.org") }),
    user: v.object({
      id: described("c29tZSBieXRlcw", "What authenticators know the administrator by"),
      name: described("root-admin"),
      displayName: described("root-admin"),
    }),
    challenge,
    pubKeyCredParams: v.array(
      v.object({ type: v.literal("public-key"), alg: v.pipe(v.number(), v.integer(), v.examples([-7])) }),
    ),
    timeout,
    excludeCredentials: descriptors,
    authenticatorSelection: v.object({
      residentKey: v.literal("required"),
      requireResidentKey: v.pipe(v.boolean(), v.examples([true])),
      userVerification: v.literal("required"),
    }),
    attestation: v.literal("none"),
  }),
  v.title("PasskeyCreation"),
  v.description("For `navigator.credentials.create()`, through `PublicKeyCredential.parseCreationOptionsFromJSON()`"),
);

const credential = {
  id: binary("The authenticator's own id for the passkey", CREDENTIAL_ID),
  rawId: binary("The same", CREDENTIAL_ID),
  type: v.literal("public-key"),
};

export const PasskeyAnswer = v.pipe(
  v.object({
    ...credential,
    response: v.object({
      clientDataJSON: binary("What the browser says it signed for"),
      authenticatorData: binary("What the authenticator says"),
      signature: binary("Over both"),
      userHandle: v.nullish(binary("Whose passkey it is")),
    }),
  }),
  v.title("PasskeyAnswer"),
  v.description("What `navigator.credentials.get()` answered, by its `toJSON()`; further members are ignored"),
);

const transport = v.pipe(v.string(), v.maxLength(64, "is too long"), v.examples(["internal"]));
/** More than there are kinds of. */
const MOST_TRANSPORTS = 16;

export const NewPasskey = v.pipe(
  v.object({
    name: text("Laptop", "To tell it by", { minLength: 1, maxLength: MAX_PASSKEY_NAME }),
    passkey: v.pipe(
      v.object({
        ...credential,
        response: v.object({
          clientDataJSON: binary("What the browser says it was made for"),
          attestationObject: binary("The new passkey's public key, and what the authenticator says"),
          transports: v.optional(listOf(transport, MOST_TRANSPORTS)),
        }),
      }),
      v.description("What `navigator.credentials.create()` answered, by its `toJSON()`; further members are ignored"),
    ),
  }),
  v.title("NewPasskey"),
);

export const PasskeyRecord = v.pipe(
  v.object({
    id,
    name: described("Laptop"),
    backed_up: v.pipe(
      v.boolean(),
      v.examples([true]),
      v.description("Whether a copy is kept elsewhere, as in a password manager"),
    ),
    created_at: timestamp,
    last_used_at: v.nullable(timestamp),
  }),
  v.title("Passkey"),
);

export const PasskeyChanges = v.pipe(
  v.object({ name: text("Laptop", undefined, { minLength: 1, maxLength: MAX_PASSKEY_NAME }) }),
  v.title("PasskeyChanges"),
);

export const PasskeyLogin = v.pipe(v.object({ passkey: PasskeyAnswer }), v.title("PasskeyLogin"));

/** What confirms that it is the session's owner who asks, beside what they ask for. */
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
    "Either the password, or an answer to `GET /auth/passkeys/challenge`; nothing of who has neither, and has just logged in at the provider of single sign-on",
  ),
);

const challengeOrNone = v.pipe(v.nullable(PasskeyRequest), v.description("Null for one who has no passkey"));

export const WaysToConfirm = v.pipe(
  v.object({
    passkey: challengeOrNone,
    password: v.pipe(v.boolean(), v.examples([true]), v.description("Whether one has a password")),
  }),
  v.title("WaysToConfirm"),
);

export const SecondStep = v.pipe(
  v.object({
    passkey: challengeOrNone,
    totp: v.pipe(v.boolean(), v.examples([true]), v.description("Whether `code` can be sent instead")),
  }),
  v.title("SecondStep"),
);

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

/** A code as somebody types it. */
export const typedCode = v.pipe(
  v.string(),
  v.maxLength(64, "is too long"),
  v.metadata({ description: "6 digits; spaces and dashes do not count", examples: ["409 173"] }),
);

export const NewApp = v.pipe(
  v.object({
    ticket: v.pipe(v.string(), v.maxLength(1024, "is too long"), v.examples([CHALLENGE])),
    code: typedCode,
  }),
  v.title("NewAuthenticatorApp"),
);
