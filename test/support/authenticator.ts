/** An authenticator in software, with the browser before it: makes passkeys and answers challenges, rightly or as wrongly as a test wants. */

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import type { NewPasskeyAnswer, PasskeyAnswer } from "../../src/domain/auth/factors/webauthn.ts";
import type { Client } from "./app.ts";

/** Where passkeys work in tests: browsers use none at an address without a name. */
export const PASSKEY_ORIGIN = "http://localhost:8080";

/** What is to be other than it should. */
export interface Amiss {
  readonly origin?: string;
  readonly rpId?: string;
  readonly verified?: boolean;
  readonly present?: boolean;
  readonly counter?: number;
  readonly type?: string;
  readonly handle?: string | null;
  readonly challenge?: string;
  readonly spoiltSignature?: boolean;
  readonly crossOrigin?: boolean;
}

/** A passkey on the authenticator. */
export interface SoftPasskey {
  readonly id: string;
  readonly handle: string;
  counter: number;
  /** The answer to a request of the service. */
  answer(request: { readonly challenge: string; readonly rpId: string }, amiss?: Amiss): PasskeyAnswer;
}

/** What an authenticator can do. */
export interface Ability {
  /** Whether it counts its uses. */
  readonly counts?: boolean;
  readonly algorithm?: "ES256" | "RS256" | "EdDSA";
}

interface Creation {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

/** Makes a passkey as the service asked, and the answer to it. */
export function makePasskey(
  { challenge, rp, user }: Creation,
  amiss: Amiss & { readonly format?: string } = {},
  { counts = false, algorithm = "ES256" }: Ability = {},
): { readonly passkey: SoftPasskey; readonly answer: NewPasskeyAnswer } {
  const { publicKey, privateKey } = newKeys(algorithm);
  const id = randomBytes(16);
  const passkey = softPasskey(privateKey, id.toString("base64url"), user.id, counts);
  const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, coseOf(publicKey)]);
  const authData = authenticatorData(rp.id, { ...amiss, counter: amiss.counter ?? 0 }, attested);
  const client = clientData("webauthn.create", challenge, amiss);
  const attestation = Buffer.concat([
    Buffer.from([0xa3]),
    ...[text("fmt"), text(amiss.format ?? "none"), text("attStmt"), Buffer.from([0xa0])],
    ...[text("authData"), bytes(authData)],
  ]);
  const answer = {
    ...{ id: passkey.id, rawId: passkey.id, type: "public-key" as const },
    response: {
      clientDataJSON: client.toString("base64url"),
      attestationObject: attestation.toString("base64url"),
      transports: ["internal", "telepathy"],
    },
  };
  return { passkey, answer };
}

function softPasskey(key: KeyObject, id: string, handle: string, counts: boolean): SoftPasskey {
  const passkey: SoftPasskey = {
    ...{ id, handle, counter: 0 },
    answer: ({ challenge, rpId }, amiss = {}) => {
      if (counts) passkey.counter++;
      const authData = authenticatorData(rpId, { counter: passkey.counter, ...amiss });
      const client = clientData("webauthn.get", challenge, amiss);
      const hash = key.asymmetricKeyType === "ed25519" ? null : "sha256";
      const signature = sign(hash, Buffer.concat([authData, sha256(client)]), key);
      if (amiss.spoiltSignature === true) signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
      return {
        ...{ id, rawId: id, type: "public-key" as const },
        response: {
          clientDataJSON: client.toString("base64url"),
          authenticatorData: authData.toString("base64url"),
          signature: signature.toString("base64url"),
          userHandle: amiss.handle === undefined ? handle : amiss.handle,
        },
      };
    },
  };
  return passkey;
}

/** Adds a passkey to the administrator who is logged in, as the console does. */
export async function addPasskeyTo(
  client: Client,
  password: string,
  { name = "Laptop", ...ability }: Ability & { readonly name?: string } = {},
): Promise<SoftPasskey & { readonly recordId: number }> {
  const begun = await client.call("POST", "/auth/passkeys/begin", { password });
  if (begun.status !== 200) throw new Error(`begin: ${begun.status} ${begun.text}`);
  const { passkey, answer } = makePasskey(begun.body.data, {}, ability);
  const added = await client.call("POST", "/auth/passkeys", { name, passkey: answer });
  if (added.status !== 201) throw new Error(`add: ${added.status} ${added.text}`);
  return Object.assign(passkey, { recordId: added.body.data.id as number });
}

function authenticatorData(rpId: string, amiss: Amiss, attested?: Buffer): Buffer {
  const flags =
    (amiss.present === false ? 0 : 1) | (amiss.verified === false ? 0 : 4) | (attested === undefined ? 0 : 64);
  const counter = Buffer.alloc(4);
  counter.writeUInt32BE(amiss.counter ?? 0);
  return Buffer.concat([
    sha256(Buffer.from(amiss.rpId ?? rpId)),
    Buffer.from([flags]),
    counter,
    attested ?? Buffer.alloc(0),
  ]);
}

function clientData(type: string, challenge: string, amiss: Amiss): Buffer {
  const origin = amiss.origin ?? PASSKEY_ORIGIN;
  const said = { type: amiss.type ?? type, challenge: amiss.challenge ?? challenge, origin };
  const cross = amiss.crossOrigin === true ? { crossOrigin: true } : {};
  return Buffer.from(JSON.stringify({ ...said, ...cross }));
}

function newKeys(algorithm: NonNullable<Ability["algorithm"]>) {
  if (algorithm === "EdDSA") return generateKeyPairSync("ed25519");
  if (algorithm === "RS256") return generateKeyPairSync("rsa", { modulusLength: 2048 });
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

/** The public key as COSE has it: EC2 with P-256, OKP with Ed25519, or RSA. */
function coseOf(publicKey: KeyObject): Buffer {
  const { kty, x = "", y = "", n = "", e = "" } = publicKey.export({ format: "jwk" });
  const coordinate = (value: string) => bytes(Buffer.from(value, "base64url"));
  if (kty === "OKP") return Buffer.concat([Buffer.from("a4010103272006", "hex"), Buffer.from([0x21]), coordinate(x)]);
  if (kty === "RSA") {
    const head = Buffer.from("a401030339010020", "hex");
    return Buffer.concat([head, coordinate(n), Buffer.from([0x21, 0x43]), Buffer.from(e, "base64url")]);
  }
  return Buffer.concat([
    Buffer.from("a5010203262001", "hex"),
    Buffer.from([0x21]),
    coordinate(x),
    Buffer.from([0x22]),
    coordinate(y),
  ]);
}

function bytes(value: Buffer): Buffer {
  const head =
    value.length < 256 ? Buffer.from([0x58, value.length]) : Buffer.from([0x59, value.length >> 8, value.length & 255]);
  return Buffer.concat([head, value]);
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
}

function sha256(value: Buffer): Buffer {
  return createHash("sha256").update(value).digest();
}
