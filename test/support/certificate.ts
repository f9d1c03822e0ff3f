/** A certificate of its own authority, made by openssl. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Certificate {
  readonly cert: string;
  readonly key: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate for these names and addresses, as in `DNS:example.org` and `IP:127.0.0.1`, in files of the directory. */
export function makeCertificate(directory: string, ...names: readonly string[]): Certificate {
  const [certFile, keyFile] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  const { status, stderr } = spawnSync("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
    ...["-keyout", keyFile, "-out", certFile, "-subj", "/CN=test"],
    ...["-addext", `subjectAltName=${names.join(",")}`],
  ]);
  if (status !== 0) throw new Error(String(stderr));
  return { certFile, keyFile, cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
}
