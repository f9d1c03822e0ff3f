/** /auth/passkeys: one's own passkeys. /auth/passkey: logging in with one. */

import * as v from "valibot";
import { MAX_PASSKEY_NAME } from "../shared/product/limits.ts";
import { PrincipalRecord } from "./auth.ts";
import {
  binary,
  CONFIRMED,
  CONFIRMING,
  Confirmation,
  challenge,
  challengeOrNone,
  credential,
  descriptors,
  NO_PASSKEYS_HERE,
  NOT_CONFIRMED,
  PasskeyAnswer,
  PasskeyRequest,
  timeout,
  UNAVAILABLE,
} from "./confirmation.ts";
import { described, IdParams, id, listed, listOf, statusOf, text, timestamp } from "./fields.ts";
import { adminsSettingUp, anyoneWithin, COOKIE_SET, type Routes } from "./route.ts";

const PasskeyCreation = v.pipe(
  v.object({
    rp: v.object({ id: described("uam.example.org"), name: described("User access, login.example.org") }),
    user: v.object({
      id: described("c29tZSBieXRlcw", "The authenticators' handle for the administrator"),
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

const NewPasskey = v.pipe(
  v.object({
    name: text("Laptop", "To tell it by", { minLength: 1, maxLength: MAX_PASSKEY_NAME }),
    passkey: v.pipe(
      v.object({
        ...credential,
        response: v.object({
          clientDataJSON: binary("The browser's statement of the purpose"),
          attestationObject: binary("The new passkey's public key, and the authenticator's statement"),
          transports: v.optional(listOf(transport, MOST_TRANSPORTS)),
        }),
      }),
      v.description("The answer of `navigator.credentials.create()`, by its `toJSON()`; further members are ignored"),
    ),
  }),
  v.title("NewPasskey"),
);

const PasskeyRecord = v.pipe(
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

const PasskeyChanges = v.pipe(
  v.object({ name: text("Laptop", undefined, { minLength: 1, maxLength: MAX_PASSKEY_NAME }) }),
  v.title("PasskeyChanges"),
);

const PasskeyLogin = v.pipe(v.object({ passkey: PasskeyAnswer }), v.title("PasskeyLogin"));

const WaysToConfirm = v.pipe(
  v.object({
    passkey: challengeOrNone,
    password: v.pipe(v.boolean(), v.examples([true]), v.description("Whether one has a password")),
  }),
  v.title("WaysToConfirm"),
);

export const passkeys = {
  "GET /auth/passkey/challenge": {
    operationId: "getPasskeyChallenge",
    summary: "Get the browser's options for a login with a passkey",
    description:
      "For any passkey of this host that the browser has; the answer does not reveal who has one. Nothing is stored.",
    who: anyoneWithin("passkey"),
    answer: PasskeyRequest,
    refusals: { 409: NO_PASSKEYS_HERE },
    reasons: ["passkey.unavailable"],
  },
  "POST /auth/passkey/login": {
    operationId: "loginWithPasskey",
    summary: "Log in as an administrator with a passkey alone",
    description:
      "The answer to `GET /auth/passkey/challenge`, by an authenticator that verified its user. The refusal is the same for every fault. Replaces the session of the request, if any.",
    who: anyoneWithin("login"),
    isLogin: true,
    body: PasskeyLogin,
    answer: PrincipalRecord,
    success: COOKIE_SET,
    refusals: { 401: true, 409: NO_PASSKEYS_HERE },
    reasons: ["login.passkey_wrong", "passkey.unavailable"],
  },
  "GET /auth/passkeys": {
    operationId: "listPasskeys",
    summary: "List one's own passkeys",
    description: "Oldest first.",
    who: adminsSettingUp,
    answer: listed(PasskeyRecord),
  },
  "GET /auth/passkeys/challenge": {
    operationId: "getConfirmationChallenge",
    summary: "Get the caller's ways to confirm, with the browser's options for a passkey",
    description: "For requests that need a confirmation; the challenge is valid in this session only.",
    who: adminsSettingUp,
    answer: WaysToConfirm,
    refusals: { 409: NO_PASSKEYS_HERE },
    reasons: ["passkey.unavailable"],
  },
  "POST /auth/passkeys/begin": {
    operationId: "beginPasskey",
    summary: "Get the browser's options to make a passkey",
    description: `${CONFIRMED} Nothing is stored until the passkey is sent.`,
    who: adminsSettingUp,
    records: "auth.passkey_add",
    body: Confirmation,
    answer: PasskeyCreation,
    refusals: { ...CONFIRMING, 409: `As many passkeys as an administrator may have, or ${UNAVAILABLE}` },
    reasons: [...NOT_CONFIRMED, "passkey.limit", "passkey.unavailable"],
  },
  "POST /auth/passkeys": {
    operationId: "addPasskey",
    summary: "Add a passkey",
    description:
      "The browser's answer to `POST /auth/passkeys/begin`, in the same session. Its owner is mailed. From then on a password alone no longer logs in.",
    who: adminsSettingUp,
    records: "auth.passkey_add",
    body: NewPasskey,
    status: 201,
    answer: PasskeyRecord,
    refusals: { 409: `Added already, or as many as an administrator may have, or ${UNAVAILABLE}` },
    reasons: ["passkey.invalid", "passkey.taken", "passkey.limit", "passkey.unavailable"],
  },
  "PATCH /auth/passkeys/:id": {
    operationId: "renamePasskey",
    summary: "Rename one of one's own passkeys",
    who: adminsSettingUp,
    records: "auth.passkey_rename",
    params: IdParams,
    body: PasskeyChanges,
    answer: PasskeyRecord,
    refusals: { 404: true },
    reasons: ["passkey.missing"],
  },
  "DELETE /auth/passkeys/:id": {
    operationId: "removePasskey",
    summary: "Remove one of one's own passkeys",
    description: `It logs in no more; sessions stay open. Its owner is mailed. ${CONFIRMED}`,
    who: adminsSettingUp,
    records: "auth.passkey_remove",
    params: IdParams,
    body: Confirmation,
    bodyAs: "optional",
    answer: statusOf("removed"),
    refusals: { ...CONFIRMING, 404: true, 409: "The last one, where `UAM_ADMIN_LOGIN` asks for one" },
    reasons: [...NOT_CONFIRMED, "passkey.missing", "factor.last"],
  },
} as const satisfies Routes;
