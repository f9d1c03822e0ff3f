/** testssl on the service's own TLS. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificate } from "../../support/certificate.ts";
import { startTarget } from "./target.ts";
import { say } from "./tools.ts";

const TESTSSL = "/usr/bin/testssl";
const LIMIT = 400;

/** What is the certificate's and not the service's: this one is made here, for a day. */
const CERTIFICATE = /^(cert_|DNS_CAArecord|engine_problem|scanTime)/;

interface Check {
  readonly id: string;
  readonly severity: string;
  readonly finding: string;
}

/** What testssl finds worse than it should be, a line each; none is well. */
export async function testssl(tell: (line: string) => void): Promise<readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), "uam-testssl-"));
  const report = join(directory, "report.json");
  const { certFile, keyFile } = makeCertificate(directory, "DNS:localhost");
  const target = await startTarget({ UAM_TLS_CERT: certFile, UAM_TLS_KEY: keyFile });
  try {
    const { text } = await say(
      [TESTSSL, "--quiet", "--color", "0", "--jsonfile", report, target.service.origin],
      LIMIT,
    );
    const checks = JSON.parse(readFileSync(report, "utf8")) as readonly Check[];
    if (checks.length < 80) throw new Error(`testssl made only ${checks.length} checks:\n${text.slice(-1000)}`);
    tell(`testssl made ${checks.length} checks`);
    return checks
      .filter(({ id, severity }) => !["OK", "INFO"].includes(severity) && !CERTIFICATE.test(id))
      .map(({ id, severity, finding }) => `${severity} ${id}: ${finding}`);
  } finally {
    await target.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}
