/** The certificate in an attestation: the maker's word for whose hardware signs with its key. */

import { type KeyObject, X509Certificate } from "node:crypto";
import { UamError } from "../../shared/errors.ts";
import { replaceUnprintable } from "../../shared/text/text.ts";

export interface ReadCertificate {
  readonly publicKey: KeyObject;
  /** Its subject, in one line. */
  readonly model: string;
  /** The identifier of the only model that it is for, if it names one. */
  readonly aaguid: Buffer | undefined;
}

const MAX_MODEL = 300;
/** WebAuthn section 8.2.1. */
const UNIT = "OU=Authenticator Attestation";
/** 1.3.6.1.4.1.45724.1.1.4, as DER has it. */
const AAGUID = Buffer.from("2b0601040182e51c010104", "hex");
const [SEQUENCE, OCTETS, VERSION, EXTENSIONS] = [0x30, 0x04, 0xa0, 0xa3];

/**
 * Throws `invalid` unless one of the issuers made the certificate, both are valid now, and it is one that authenticators attest with. Nothing is
 * fetched: a maker's certificate that is no longer trusted has to be taken away.
 */
export function readCertificate(der: Buffer, issuers: readonly X509Certificate[], now: Date): ReadCertificate {
  const certificate = parsed(der);
  const isIssuer = (one: X509Certificate) => one.ca && certificate.checkIssued(one) && isSignedBy(certificate, one);
  const found = issuers.filter(isIssuer);
  if (found.length === 0) throw wrong("nobody who is trusted on this service's host made its certificate");
  if (!isValid(certificate, now) || !found.some((one) => isValid(one, now))) {
    throw wrong("its certificate, or that of its maker, is not valid now");
  }
  const subject = certificate.subject.split("\n");
  if (certificate.ca || !subject.includes(UNIT))
    throw wrong("its certificate is not one that security keys attest with");
  const { publicKey } = certificate;
  if (publicKey.asymmetricKeyDetails?.namedCurve !== "prime256v1")
    throw wrong("its certificate has no key of the curve P-256");
  const model = replaceUnprintable(subject.toReversed().join(", "), () => "?").slice(0, MAX_MODEL);
  return { publicKey, model, aaguid: aaguidIn(der) };
}

function parsed(der: Buffer): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch {
    throw wrong("its certificate cannot be read");
  }
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    // A signature of a kind that is not known.
    return false;
  }
}

function isValid({ validFrom, validTo }: X509Certificate, now: Date): boolean {
  return Date.parse(validFrom) <= now.getTime() && now.getTime() <= Date.parse(validTo);
}

/** Reads only what was parsed before, and was signed by an issuer. */
function aaguidIn(der: Buffer): Buffer | undefined {
  const [whole, ...rest] = elementsIn(der);
  const [body] = elementsIn(contentOf(whole, SEQUENCE));
  const parts = elementsIn(contentOf(body, SEQUENCE));
  const version = parts[0]?.tag === VERSION ? parts[0].content.toString("hex") : "";
  if (rest.length > 0 || version !== "020102") throw wrong("its certificate is not of version 3");
  const [list] = elementsIn(parts.find(({ tag }) => tag === EXTENSIONS)?.content ?? Buffer.alloc(0));
  const extensions = list === undefined ? [] : elementsIn(contentOf(list, SEQUENCE));
  for (const extension of extensions) {
    const fields = elementsIn(contentOf(extension, SEQUENCE));
    if (fields[0]?.content.equals(AAGUID) !== true) continue;
    const [value] = elementsIn(contentOf(fields.at(-1), OCTETS));
    return contentOf(value, OCTETS);
  }
  return undefined;
}

interface Element {
  readonly tag: number;
  readonly content: Buffer;
}

/** The elements that follow each other in DER; each takes two bytes at least. */
function elementsIn(der: Buffer): readonly Element[] {
  const elements: Element[] = [];
  for (let offset = 0; offset < der.length; ) {
    const [tag = 0, first = 0, second = 0, third = 0] = der.subarray(offset, offset + 4);
    const [head, length] =
      first < 0x80
        ? [2, first]
        : first === 0x81
          ? [3, second]
          : first === 0x82
            ? [4, second * 256 + third]
            : [2, der.length];
    const end = offset + head + length;
    if (end > der.length) throw wrong("its certificate is damaged");
    elements.push({ tag, content: der.subarray(offset + head, end) });
    offset = end;
  }
  return elements;
}

function contentOf(element: Element | undefined, tag: number): Buffer {
  if (element?.tag !== tag) throw wrong("its certificate is damaged");
  return element.content;
}

/** `invalid`: what is said against an attestation ends the sentence. */
export function wrong(why: string): UamError {
  return new UamError("invalid", `The attestation is not accepted: ${why}`, { reason: "key.attestation_wrong" });
}
