/** The README's walk through the API, run as it stands against the built binary. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeOnHost } from "./support/host-account.ts";
import { BINARY, type Service, startService } from "./support/service.ts";

/** The shell blocks of a section, as one script. */
function scriptOf(section: string): string {
  const readme = readFileSync(join(import.meta.dir, "../README.md"), "utf8");
  const text = readme.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? "";
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1]).join("\n");
}

describeOnHost("README", () => {
  let directory: string;
  let service: Service;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "uam-readme-"));
    chmodSync(directory, 0o711);
    service = await startService(directory);
  });
  afterAll(async () => {
    await service?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  test("every command of the walk through the API succeeds", () => {
    const script = scriptOf("A walk through the API").replaceAll("http://127.0.0.1:8080", service.origin);
    expect(script.match(/^curl /gm)?.length).toBeGreaterThan(25);
    const bin = join(directory, "bin");
    mkdirSync(bin);
    const variables = `UAM_DATA_DIR=${join(directory, "data")} UAM_BASE_URL=${service.origin}`;
    writeFileSync(join(bin, "uam"), `#!/bin/sh\nexec env ${variables} ${BINARY} "$@"\n`, { mode: 0o755 });
    const { status, stderr } = spawnSync("bash", ["-exuo", "pipefail", "-c", script], {
      cwd: directory,
      encoding: "utf8",
      env: { PATH: `${bin}:/usr/bin:/bin:/usr/sbin:/sbin` },
    });
    // The trace ends with the command that failed.
    expect({ status, last: stderr.split("\n").slice(-3) }).toMatchObject({ status: 0 });
    expect(readdirSync(directory).some((name) => /^audit-\d{4}-\d\d-\d\d\.csv$/.test(name))).toBe(true);
  });
});
