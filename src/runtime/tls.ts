/** The service's certificate and key. */

import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { UamError } from "../shared/errors.ts";

/** The paths of the certificate chain and the private key, both PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Both as text, known to be a pair. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
  /** When the first certificate of the chain expires. */
  readonly validTo: Date;
}

/** Reads both files. Throws `invalid`, naming the file at fault, unless they hold a certificate and the key that belongs to it. */
export function readTlsPair(files: TlsFiles): TlsPair {
  const cert = readPem("UAM_TLS_CERT", files.cert);
  const key = readPem("UAM_TLS_KEY", files.key);
  const certificate = parse(() => new X509Certificate(cert), `UAM_TLS_CERT contains no certificate: ${files.cert}`);
  const privateKey: KeyObject = parse(
    () => createPrivateKey(key),
    `UAM_TLS_KEY contains no private key, or one with a passphrase: ${files.key}`,
  );
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new UamError("invalid", `The key ${files.key} does not belong to the certificate ${files.cert}`);
  }
  return { cert, key, validTo: new Date(certificate.validTo) };
}

function readPem(variable: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new UamError("invalid", `${variable} names a file that cannot be read: ${path}`, { cause });
  }
}

// The parser's own message may quote what it read, which is a key.
function parse<T>(read: () => T, message: string): T {
  try {
    return read();
  } catch {
    throw new UamError("invalid", message);
  }
}
