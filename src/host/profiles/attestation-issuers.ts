/** The certificates with which this host's owner believes what security keys say of their make. */

import { X509Certificate } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from "node:fs";
import type { Log } from "../../shared/log.ts";
import { at, errorCode, openTrusted, ownUid } from "../safe-open.ts";

export const ATTESTATION_ISSUERS = "/etc/uam/attestation.d";

/** Of one file, in bytes; all that FIDO publishes for one maker is less. */
const MOST = 256 * 1024;
const PEM = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/**
 * Those in the directory's files that end in `.pem`, as they are now; none where there is no directory. A file that others than root can write, or that
 * cannot be read, is left out, and the log says so. Throws `internal` if others can write the directory.
 */
export function readIssuers(log: Pick<Log, "warn">, directory = ATTESTATION_ISSUERS): readonly X509Certificate[] {
  const fd = opened(directory);
  if (fd === undefined) return [];
  try {
    const names = readdirSync(at(fd, ".")).filter((name) => name.endsWith(".pem"));
    return names.flatMap((name) => {
      try {
        return issuersIn(at(fd, name));
      } catch (error) {
        log.warn("a file of certificates that attest security keys is left out", {
          file: `${directory}/${name}`,
          error,
        });
        return [];
      }
    });
  } finally {
    closeSync(fd);
  }
}

function opened(directory: string): number | undefined {
  try {
    return openTrusted(directory);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function issuersIn(path: string): readonly X509Certificate[] {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(fd);
    const isClosed = (found.uid === 0 || found.uid === ownUid()) && (found.mode & 0o022) === 0;
    if (!found.isFile() || !isClosed) throw new Error("it is not a file that root alone can write");
    if (found.size > MOST) throw new Error(`it is longer than ${MOST} bytes`);
    const certificates = readFileSync(fd, "latin1").match(PEM) ?? [];
    if (certificates.length === 0) throw new Error("it has no certificate in PEM");
    return certificates.map((pem) => new X509Certificate(pem));
  } finally {
    closeSync(fd);
  }
}
