/** Passkeys as browsers know them (WebAuthn): makes the browser's options, and verifies its answers. */

import type { AttestationObject } from "@simplewebauthn/server/helpers";
import { UamError } from "../../../shared/errors.ts";
import { passkeyHost } from "../../../shared/net/relying-party.ts";
import type { PasskeyRow } from "../../../store/schema-passkeys.ts";
import type { Context, Site } from "../../operation/context.ts";
import { TICKET_TTL } from "../codes/tickets.ts";

/** The answer of `navigator.credentials.create()`, as its `toJSON()` writes it; binary data is base64url. */
export interface NewPasskeyAnswer {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: readonly string[] | undefined;
  };
}

/** The answer of `navigator.credentials.get()`. */
export interface PasskeyAnswer {
  readonly id: string;
  readonly rawId: string;
  readonly type: "public-key";
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle?: string | null | undefined;
  };
}

/** The stored fields of a new passkey. */
export type NewCredential = Pick<PasskeyRow, "credentialId" | "publicKey" | "counter" | "transports" | "backedUp">;

/** The statement of an authenticator when it was used. */
export interface Assertion {
  readonly counter: number;
  readonly backedUp: boolean;
}

/** The parts that verifying needs: the service's address, and the log for reasons. */
type Verifying = Pick<Context, "log"> & { readonly policy: Pick<Context["policy"], "site"> };

type Known = Pick<PasskeyRow, "credentialId" | "transports">;

/** COSE: Ed25519, ECDSA with P-256, RSASSA-PKCS1-v1_5; each with SHA-256 or its own hash. Between them, every authenticator. */
const ALGORITHMS = [-8, -7, -257];
const TRANSPORTS = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"] as const;
type Transport = (typeof TRANSPORTS)[number];

/**
 * The host that passkeys are for; throws `conflict` if browsers make none there, that is, without a host name or without HTTPS.
 */
export function relyingParty({ baseUrl }: Pick<Site, "baseUrl">): string {
  const host = passkeyHost(baseUrl);
  if (host !== undefined) return host;
  const sentence = `Browsers use passkeys only at an https address with a host name, or at localhost; UAM_BASE_URL is ${baseUrl}`;
  throw new UamError("conflict", sentence, { reason: "passkey.unavailable" });
}

interface Owner {
  readonly username: string;
  /** The authenticator's name for the administrator. */
  readonly handle: Uint8Array;
}

/** The browser's options for a new passkey: kept by the authenticator itself, and used only after it has verified its user. */
export function creationOptions(site: Site, challenge: string, owner: Owner, known: readonly Known[]) {
  const name = owner.username;
  return {
    rp: { id: relyingParty(site), name: `User access, ${site.host}` },
    user: { id: Buffer.from(owner.handle).toString("base64url"), name, displayName: name },
    challenge,
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key" as const, alg })),
    timeout: TICKET_TTL,
    excludeCredentials: known.map(descriptorOf),
    authenticatorSelection: {
      residentKey: "required" as const,
      requireResidentKey: true,
      userVerification: "required" as const,
    },
    attestation: "none" as const,
  };
}

/** The browser's options for the use of a passkey: any of `known`, or if there are none, any that it has for this host. */
export function requestOptions(site: Site, challenge: string, known: readonly Known[] = []) {
  return {
    challenge,
    rpId: relyingParty(site),
    timeout: TICKET_TTL,
    allowCredentials: known.map(descriptorOf),
    userVerification: "required" as const,
  };
}

export type CreationOptions = ReturnType<typeof creationOptions>;
export type RequestOptions = ReturnType<typeof requestOptions>;

/**
 * The challenge that the answer names, to be checked before the rest; "" if there is none, and for an answer that was given within another
 * site's page. Our pages are never shown in a frame, and the library checks that only if the other site is named.
 */
export function challengeOf({ response }: NewPasskeyAnswer | PasskeyAnswer): string {
  try {
    const said: unknown = JSON.parse(Buffer.from(response.clientDataJSON, "base64url").toString());
    const { challenge, crossOrigin } = said as { readonly challenge?: unknown; readonly crossOrigin?: unknown };
    return typeof challenge === "string" && crossOrigin !== true ? challenge : "";
  } catch {
    return "";
  }
}

/** The new passkey, or undefined if the answer is not right for that challenge; the reason is logged. */
export async function verifyNewPasskey(
  context: Verifying,
  answer: NewPasskeyAnswer,
  challenge: string,
): Promise<NewCredential | undefined> {
  const expected = expectedFrom(context.policy.site, challenge);
  const { transports = [], ...response } = answer.response;
  const { decodeAttestationObject, isoBase64URL, verifyRegistrationResponse } = await loadWebAuthn();
  return await logged(context, async () => {
    refuseAttestation(decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject)));
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { ...answer, response, clientExtensionResults: {} },
      ...expected,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) throw new Error("the signature of the attestation is wrong");
    const { credential, credentialBackedUp } = registrationInfo;
    return {
      credentialId: credential.id,
      publicKey: credential.publicKey,
      counter: credential.counter,
      transports: TRANSPORTS.filter((transport) => transports.includes(transport)),
      backedUp: credentialBackedUp,
    };
  });
}

/**
 * The authenticator's statement, or undefined if the answer is not from that passkey to that challenge; the reason is logged. Does not compare the
 * counter.
 */
export async function verifyPasskey(
  context: Verifying,
  answer: PasskeyAnswer,
  { credentialId: id, publicKey }: Pick<PasskeyRow, "credentialId" | "publicKey">,
  challenge: string,
): Promise<Assertion | undefined> {
  const expected = expectedFrom(context.policy.site, challenge);
  const { userHandle: _, ...response } = answer.response;
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  return await logged(context, async () => {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...answer, response, clientExtensionResults: {} },
      ...expected,
      // With 0 the library compares nothing. It would compare before it has checked the signature, so that anybody could fake a
      // counter that went back; and the last counter is only known under the row's lock.
      credential: { id, publicKey: new Uint8Array(publicKey), counter: 0 },
    });
    if (!verified) throw new Error("the signature is wrong");
    return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
  });
}

/**
 * Without a request for one, browsers send no statement about the device, or one that it makes itself. Other statements would have us fetch lists of revoked
 * certificates.
 */
function refuseAttestation(decoded: AttestationObject): void {
  const format = decoded.get("fmt");
  if (format === "none" || (format === "packed" && decoded.get("attStmt").get("x5c") === undefined)) return;
  throw new Error("the answer has an attestation, and none was asked for");
}

function expectedFrom(site: Site, expectedChallenge: string) {
  const [expectedOrigin, expectedRPID] = [site.baseUrl, relyingParty(site)];
  return { expectedChallenge, expectedOrigin, expectedRPID, requireUserVerification: true };
}

/** A longer reason holds the data that was sent, not the fault. */
const LONGEST_REASON = 200;

/** Any error of the library means that the answer is not right. */
async function logged<T>({ log }: Pick<Context, "log">, verify: () => Promise<T>): Promise<T | undefined> {
  try {
    return await verify();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log.info("a passkey was not accepted", { why: why.slice(0, LONGEST_REASON) });
    return undefined;
  }
}

function descriptorOf({ credentialId: id, transports }: Known) {
  return { type: "public-key" as const, id, transports: transports as Transport[] };
}

/**
 * Loaded when a passkey is first used: it takes a tenth of a second. Outside `logged`, because a library that cannot be loaded is our
 * fault.
 */
async function loadWebAuthn() {
  return { ...(await import("@simplewebauthn/server")), ...(await import("@simplewebauthn/server/helpers")) };
}
