/** Passkeys and authenticator apps, in requests and answers. What browsers speak is as WebAuthn's JSON has it; binary data is base64url. */

import * as v from "valibot";
import { MAX_PASSKEY_NAME } from "../shared/limits.ts";
import { binary, challenge, challengeOrNone, credential, descriptors, PasskeyAnswer, timeout } from "./confirmation.ts";
import { described, id, listOf, text, timestamp } from "./fields.ts";

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

export const WaysToConfirm = v.pipe(
  v.object({
    passkey: challengeOrNone,
    password: v.pipe(v.boolean(), v.examples([true]), v.description("Whether one has a password")),
  }),
  v.title("WaysToConfirm"),
);
