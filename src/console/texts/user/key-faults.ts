/** Why a text is no public key that the service accepts. The sentences are the service's own. */

import type { Fault, Part, PrivateFormat } from "../../keys/fault.ts";

const CONVERT = "convert it with `ssh-keygen -i`, or upload the .pub file that ssh-keygen made";

const PARTS: Readonly<Record<Part, string>> = {
  type: "key type",
  integer: "RSA numbers",
  ed25519: "Ed25519 key",
  curve: "curve name",
  point: "curve point",
  application: "application name",
  "mldsa44-ed25519": "ML-DSA-44 and Ed25519 key",
};

/** The service's sentence, without its full stop. */
export function faultSentence(fault: Fault): string {
  switch (fault.kind) {
    case "private":
      return "This is a private key, which must never leave its owner's machine: upload the public key, the one line of the .pub file";
    case "too-long":
      return `The public key text is longer than ${fault.maximum} characters`;
    case "public-pem":
      return `The public key is in PEM or RFC 4716 format: ${CONVERT}`;
    case "pem":
      return `This is a PEM file, not an OpenSSH public key: ${CONVERT}`;
    case "several-lines":
      return "The public key must be a single line";
    case "control-characters":
      return "The public key text contains control characters";
    case "empty":
      return "The public key text is empty";
    case "options":
      return "Options in front of the key are not accepted: the line must begin with the key type";
    case "not-a-key":
      return "This is not an SSH public key: the line must begin with a key type such as ssh-ed25519";
    case "no-data":
      return `The key data is missing after ${fault.type}`;
    case "certificate":
      return `Certificates are not accepted (${fault.type}): upload the plain public key`;
    case "dsa":
      return "ssh-dss keys are not accepted, DSA is broken: make a new key with `ssh-keygen -t ed25519`";
    case "type":
      return `Key type ${fault.type} is not accepted; accepted are ${fault.accepted.join(", ")}`;
    case "base64":
      return `The key data after ${fault.type} is not valid base64`;
    default:
      return dataSentence(fault);
  }
}

type DataFault = Exclude<Fault, { readonly kind: TextKind }>;
type TextKind =
  | ("private" | "too-long" | "public-pem" | "pem" | "several-lines" | "control-characters" | "empty" | "options")
  | ("not-a-key" | "no-data" | "certificate" | "dsa" | "type" | "base64");

/** About the data behind the type. */
function dataSentence(fault: DataFault): string {
  switch (fault.kind) {
    case "types-differ":
      return `The line says ${fault.type}, but the key data says ${fault.found ?? "something else"}`;
    case "cut-off":
      return `The key data is cut off in the ${PARTS[fault.part]}`;
    case "negative":
      return "The key data holds a negative RSA number";
    case "oversized":
      return "The key data holds an RSA number of more than 16384 bits";
    case "ed25519-length":
      return `The key data holds an Ed25519 key of ${fault.bytes} bytes, it must have 32`;
    case "mldsa44-ed25519-length":
      return `The key data holds an ML-DSA-44 and Ed25519 key of ${fault.bytes} bytes, it must have 1344`;
    case "curve":
      return `The key data holds a curve name that does not belong to ${fault.type}`;
    case "form-of-point":
      return "The key data holds a curve point that is not in the uncompressed form";
    case "nul-in-application":
      return "The key data holds an application name with a NUL in it";
    case "trailing":
      return `The key data has ${fault.bytes} trailing bytes after the key`;
    case "not-canonical":
      return "The key data is not encoded as ssh-keygen does: it has padded numbers or names";
    case "application-empty":
      return "The security key has an empty application name";
    case "application-text":
      return "The security key's application name contains control characters or is not UTF-8";
    case "rsa-short":
      return `RSA key has ${fault.bits} bits, the minimum is ${fault.limit}`;
    case "rsa-long":
      return `RSA key has ${fault.bits} bits, the maximum is ${fault.limit}`;
    case "rsa-even-modulus":
      return "RSA key has an even modulus, which no real key has";
    case "rsa-small-exponent":
      return `RSA key has the public exponent ${fault.exponent}, the minimum is 3`;
    case "rsa-even-exponent":
      return "RSA key has an even public exponent, which no real key has";
    case "rsa-large-exponent":
      return "RSA key has a public exponent that is not smaller than its modulus";
    case "rsa-exponent-bits":
      return `RSA key has a public exponent of ${fault.bits} bits, the maximum is 64`;
  }
}

/** The remedy, where the sentence leaves it open. */
export function faultAdvice(fault: Fault): string | undefined {
  switch (fault.kind) {
    case "several-lines":
      return fault.keys > 1
        ? `There seem to be ${fault.keys} keys here. Add them one at a time.`
        : "If this is one key, it was broken into lines on its way. Copy it again from the .pub file, or choose the file itself.";
    case "options":
      return "Delete what stands before the key type.";
    case "cut-off":
    case "base64":
    case "no-data":
      return "It was probably not copied whole. Choose the .pub file itself instead.";
    case "rsa-short":
    case "rsa-small-exponent":
      return "Make a new key: see “How to make a key” below.";
    default:
      return undefined;
  }
}

/** The fault, and its remedy. */
export function faultText(fault: Fault): string {
  const advice = faultAdvice(fault);
  return `${faultSentence(fault)}.${advice === undefined ? "" : ` ${advice}`}`;
}

/** How the public half is got from a private key of that kind. */
export const PRIVATE_ADVICE: Readonly<Record<PrivateFormat, string>> = {
  openssh: "The public half is in the file of the same name that ends in .pub.",
  putty:
    "A .ppk file holds the private half too. Load it in PuTTYgen and copy the text of the field “Public key for pasting into OpenSSH authorized_keys file”.",
  pem: "The public half is one command away: ssh-keygen -y -f FILE prints it.",
  ssh2: "The public half is one command away: ssh-keygen -i -f FILE, or the file that ends in .pub.",
  unknown: "The public half is in a file that ends in .pub.",
};
