/**
 * Passkeys, by what browsers themselves have: they read the service's JSON and write theirs, so that no library is needed
 * (docs/decisions/second-factor.md).
 */

import { type AnswerOf, ApiFailure, type BodyOf } from "./api.ts";
import { publicTexts } from "./texts/public.ts";

type Answer = BodyOf<"POST /auth/passkey/login">["passkey"];
type NewAnswer = BodyOf<"POST /auth/passkeys">["passkey"];

/** Whether this browser has passkeys that speak JSON; those since 2025 do. */
export function hasPasskeys(): boolean {
  return typeof PublicKeyCredential === "function" && "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

/** Has the browser use a passkey. Throws ApiFailure, in words for a person, if there is none or they changed their mind. */
export async function usePasskey(request: AnswerOf<"GET /auth/passkey/challenge">): Promise<Answer> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(request);
  return (await asked(() => navigator.credentials.get({ publicKey }))) as unknown as Answer;
}

/** Has the browser make a passkey. Throws as `usePasskey` does. */
export async function makePasskey(creation: AnswerOf<"POST /auth/passkeys/begin">): Promise<NewAnswer> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(creation);
  return (await asked(() => navigator.credentials.create({ publicKey }))) as unknown as NewAnswer;
}

async function asked(ask: () => Promise<Credential | null>) {
  try {
    const credential = await ask();
    if (credential instanceof PublicKeyCredential) return credential.toJSON();
  } catch (error) {
    throw refused(error instanceof DOMException ? error.name : "");
  }
  throw refused("");
}

function refused(name: string): ApiFailure {
  const { passkey } = publicTexts;
  const words: Readonly<Record<string, string>> = {
    InvalidStateError: passkey.known,
    SecurityError: passkey.elsewhere,
  };
  return new ApiFailure(words[name] ?? passkey.cancelled, {
    ...{ status: 0, reason: "passkey", retryAfter: undefined, requestId: "" },
  });
}
