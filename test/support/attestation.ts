/** The maker of security keys, and its keys, in software: attestations as ssh-keygen writes them, as right or as wrong as a test wants. */

import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";

/** A certificate of the maker, and the key that signs with it. */
export interface Authority {
  readonly name: string;
  readonly privateKey: KeyObject;
  readonly certificate: X509Certificate;
}

/** What a certificate says; by default what it should. */
export interface CertificateWish {
  readonly unit?: string;
  readonly isCa?: boolean;
  readonly aaguid?: Buffer | undefined;
  readonly from?: string;
  readonly to?: string;
  readonly curve?: string;
  readonly version?: number;
}

/** What is to be other than it should. */
export interface Amiss extends CertificateWish {
  readonly format?: string;
  readonly application?: string;
  /** What the authenticator's data say of the application. */
  readonly saidApplication?: string;
  readonly flags?: number;
  /** The model in the authenticator's data. */
  readonly saidAaguid?: Buffer;
  /** The key in the authenticator's data. */
  readonly saidKey?: KeyObject;
  readonly signedChallenge?: Buffer;
  readonly signedBy?: KeyObject;
  readonly extensions?: Buffer;
  /** All of the authenticator's data. */
  readonly data?: Buffer;
  readonly certificate?: Buffer;
  readonly reserved?: Buffer;
}

export const AAGUID = Buffer.from("73bb0cd4e50249b89c6fb59445bf720b", "hex");
const PRESENT_VERIFIED_KEY = 0x45;
/** credProtect, as ssh-keygen asks for it with verify-required. */
export const CRED_PROTECT = Buffer.from("a16b6372656450726f7465637403", "hex");

/** An authority that is its own, or was made by another. */
export function makeAuthority(name: string, by?: Authority, wish: CertificateWish = {}): Authority {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer = by ?? { name, privateKey };
  const der = certificateOf({ subject: [[CN, name]], publicKey }, signer, { isCa: true, ...wish });
  return { name, privateKey, certificate: new X509Certificate(der) };
}

/** A key that was made for the challenge by hardware of the authority, as ssh-keygen leaves it. */
export function makeAttestedKey(
  authority: Authority,
  challenge: Buffer,
  { algorithm = "ed25519", ...amiss }: Amiss & { readonly algorithm?: "ed25519" | "ecdsa" } = {},
): { readonly publicKey: string; readonly statement: Buffer } {
  const { application = "ssh:", saidApplication = application, saidAaguid = AAGUID, extensions = CRED_PROTECT } = amiss;
  const batch = generateKeyPairSync("ec", { namedCurve: amiss.curve ?? "P-256" });
  const subject: Name = [
    [COUNTRY, "SE"],
    [ORGANISATION, "Soft Keys AB"],
    [UNIT, amiss.unit ?? "Authenticator Attestation"],
    [CN, "Soft Key 5"],
  ];
  const wish = "aaguid" in amiss ? amiss : { ...amiss, aaguid: AAGUID };
  const certificate = amiss.certificate ?? certificateOf({ subject, publicKey: batch.publicKey }, authority, wish);
  const made =
    algorithm === "ecdsa" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("ed25519");
  const handle = randomBytes(64);
  const flags = amiss.flags ?? PRESENT_VERIFIED_KEY | (extensions.length === 0 ? 0 : 0x80);
  const data =
    amiss.data ??
    Buffer.concat([
      sha256(Buffer.from(saidApplication)),
      ...[Buffer.from([flags]), Buffer.alloc(4), saidAaguid, Buffer.from([0, handle.length]), handle],
      ...[coseOf(amiss.saidKey ?? made.publicKey), extensions],
    ]);
  const signed = Buffer.concat([data, sha256(amiss.signedChallenge ?? challenge)]);
  const signature = sign("sha256", signed, amiss.signedBy ?? batch.privateKey);
  const statement = Buffer.concat([
    ...[Buffer.from(amiss.format ?? "ssh-sk-attest-v01"), certificate, signature, byteString(data)].map(lengthFirst),
    amiss.reserved ?? Buffer.alloc(8),
  ]);
  return { publicKey: sshKeyOf(made.publicKey, application), statement };
}

type Name = readonly (readonly [oid: string, value: string])[];
const CN = "550403";
const COUNTRY = "550406";
const ORGANISATION = "55040a";
const UNIT = "55040b";
const ECDSA_WITH_SHA256 = der(0x30, Buffer.from("06082a8648ce3d040302", "hex"));

/** A certificate in DER. */
export function certificateOf(
  { subject, publicKey }: { readonly subject: Name; readonly publicKey: KeyObject },
  by: Pick<Authority, "name" | "privateKey">,
  { isCa = false, aaguid, from = "20200101000000Z", to = "20500101000000Z", version = 2 }: CertificateWish = {},
): Buffer {
  const basic = der(0x30, isCa ? Buffer.from("0101ff", "hex") : Buffer.alloc(0));
  const extensions = [
    extension("551d13", basic),
    ...(aaguid === undefined ? [] : [extension("2b0601040182e51c010104", der(0x04, aaguid))]),
  ];
  const body = der(
    0x30,
    ...(version === 0 ? [] : [der(0xa0, der(0x02, Buffer.from([version])))]),
    der(0x02, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    nameOf([[CN, by.name]]),
    der(0x30, der(0x18, Buffer.from(from)), der(0x18, Buffer.from(to))),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    ...(version === 0 ? [] : [der(0xa3, der(0x30, ...extensions))]),
  );
  const signature = sign("sha256", body, by.privateKey);
  return der(0x30, body, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), signature));
}

function extension(oid: string, value: Buffer): Buffer {
  return der(0x30, der(0x06, Buffer.from(oid, "hex")), der(0x04, value));
}

function nameOf(name: Name): Buffer {
  const parts = name.map(([oid, value]) =>
    der(0x31, der(0x30, der(0x06, Buffer.from(oid, "hex")), der(0x0c, Buffer.from(value)))),
  );
  return der(0x30, ...parts);
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

/** The public key as one line, as ssh-keygen writes it. */
export function sshKeyOf(publicKey: KeyObject, application = "ssh:"): string {
  const { kty, x = "", y = "" } = publicKey.export({ format: "jwk" });
  const [left, right] = [x, y].map((value) => Buffer.from(value, "base64url"));
  const isEdwards = kty === "OKP";
  const type = isEdwards ? "sk-ssh-ed25519@openssh.com" : "sk-ecdsa-sha2-nistp256@openssh.com";
  const point = Buffer.concat([Buffer.from([4]), left ?? "", right ?? ""].map((part) => Buffer.from(part)));
  const fields = isEdwards ? [left ?? Buffer.alloc(0)] : [Buffer.from("nistp256"), point];
  const blob = [Buffer.from(type), ...fields, Buffer.from(application)].map(lengthFirst);
  return `${type} ${Buffer.concat(blob).toString("base64")} me@token`;
}

function coseOf(publicKey: KeyObject): Buffer {
  const {
    kty,
    x = "",
    y = "",
  } = createPublicKey(publicKey.export({ type: "spki", format: "pem" })).export({ format: "jwk" });
  const [left, right] = [x, y].map((value) => Buffer.from(value, "base64url"));
  if (kty === "OKP") return Buffer.concat([Buffer.from("a4010103272006215820", "hex"), left ?? Buffer.alloc(0)]);
  const parts = [Buffer.from("a5010203262001215820", "hex"), left, Buffer.from("225820", "hex"), right];
  return Buffer.concat(parts.map((part) => part ?? Buffer.alloc(0)));
}

function byteString(value: Buffer): Buffer {
  const head = value.length < 256 ? [0x58, value.length] : [0x59, value.length >> 8, value.length & 255];
  return Buffer.concat([Buffer.from(head), value]);
}

function lengthFirst(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function sha256(value: Buffer): Buffer {
  return createHash("sha256").update(value).digest();
}
