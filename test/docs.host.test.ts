/** The commands of the documents, run as they stand against the built binary in dry-run mode. */

import { afterEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BLOCKS, scriptOf } from "./support/documents.ts";
import { BINARY, type Service, startService } from "./support/service.ts";

const KEY = (name: string, user: string) => `
ssh-keygen -q -t ed25519 -N '' -f ./${name}
curl -sf -c ${user}.jar -H 'Content-Type: application/json' -d "{\\"username\\":\\"${user}\\",\\"code\\":\\"$(uam otp ${user})\\"}" ORIGIN/api/v1/auth/otp/login
curl -sf -b ${user}.jar -H 'Content-Type: application/json' -d "{\\"name\\":\\"k\\",\\"public_key\\":\\"$(cat ${name}.pub)\\"}" ORIGIN/api/v1/me/keys`;
const APPLY = (name: string) =>
  `curl -sf -H 'Content-Type: application/json' -d '{"username":"${name}","email":"${name}@example.org"}' ORIGIN/api/v1/approvals`;
/** The fingerprint in the document is nobody's. */
const FINGERPRINT = /SHA256:[A-Za-z0-9+/]{43}/g;

const SOLVER = join(import.meta.dir, "support/solve-captcha.ts");

const ROOT_ADMIN = "uam admin add root-admin --email admin@example.org";

/** What is there before a document's first command, and what stands in its commands for something of the reader's. */
const BEFORE: Readonly<Record<string, string>> = {
  "docs/administration.md": [
    ROOT_ADMIN,
    "uam user create bob --email bob@example.org",
    APPLY("dan"),
    APPLY("erin"),
  ].join("\n"),
  "docs/administrators.md": ROOT_ADMIN,
  "docs/emergencies.md": [
    ROOT_ADMIN,
    ...["bob", "carol", "mallory"].map((name) => `uam user create ${name} --email ${name}@example.org`),
    KEY("bob_key", "bob"),
    KEY("carol_key", "carol"),
  ].join("\n"),
  "docs/audit.md": "uam user create bob --email bob@example.org",
  "docs/fleet.md": "uam user create alice --email alice@example.org",
  "docs/logins.md": ["uam user create bob --email bob@example.org", KEY("bob_key", "bob")].join("\n"),
  "docs/troubleshooting.md": "uam user create dan --email dan@example.org",
  "docs/user-guide.md": "uam user create alice --email alice@example.org",
};

/** It needs what CI builds; in dry-run mode it makes no accounts, so it waits for no other test. */
describe.if(process.env.UAM_TEST_HOST === "1")("documents", () => {
  let directory = "";
  let service: Service | undefined;

  afterEach(async () => {
    await service?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const documents = Object.keys(BLOCKS).filter((path) => scriptOf(path) !== "");
  test.each(documents)("every command of %s succeeds", async (path) => {
    directory = mkdtempSync(join(tmpdir(), "uam-docs-"));
    chmodSync(directory, 0o711);
    service = await startService(directory);
    const { status, last } = run(path, service);
    // The trace ends with the command that failed.
    expect({ path, status, last }).toMatchObject({ status: 0 });
    if (path === "docs/api.md") {
      expect(scriptOf(path).match(/^curl /gm)?.length).toBeGreaterThan(25);
      expect(readdirSync(directory).some((name) => /^audit-\d{4}-\d\d-\d\d\.csv$/.test(name))).toBe(true);
    }
  });

  function run(path: string, { origin }: Service) {
    const bin = join(directory, "bin");
    mkdirSync(bin);
    const variables = `UAM_DATA_DIR=${join(directory, "data")} UAM_BASE_URL=${origin} UAM_LISTEN=${origin.slice(7)}`;
    writeFileSync(join(bin, "uam"), `#!/bin/sh\nexec env ${variables} ${BINARY} "$@"\n`, { mode: 0o755 });
    const script = `${BEFORE[path] ?? ""}\n${scriptOf(path)}`
      .replaceAll("ORIGIN", origin)
      .replaceAll("npx -y bun@1.4.4 src/main.ts", "uam")
      .replaceAll(/https?:\/\/(127\.0\.0\.1:8080|uam\.example\.org)/g, origin)
      .replaceAll("/var/backups", directory)
      .replaceAll(FINGERPRINT, "$(ssh-keygen -l -f carol_key.pub | cut -d' ' -f2)")
      // What somebody reads in the picture; a program does the work that stands in for it.
      .replaceAll("K7RWX", `$(${process.execPath} ${SOLVER} captcha.json)`)
      // The code from the mail, once it has come.
      .replaceAll(
        "CODE=12345678",
        "until CODE=$(grep 'Your code' data/mail.log | grep -Eo -m 1 '\\b[0-9]{4}[ -]?[0-9]{4}\\b' | sed -n 1p); do sleep 0.1; done",
      )
      // What they find is about the host, which is not installed.
      .replaceAll(/^uam (doctor( --fix)?|user why \S+)/gm, "$& || test $? = 1; :");
    const { status, stderr } = spawnSync("bash", ["-exuo", "pipefail", "-c", script], {
      cwd: directory,
      encoding: "utf8",
      env: { PATH: `${bin}:/usr/bin:/bin:/usr/sbin:/sbin` },
    });
    return { status, last: stderr.split("\n").slice(-4) };
  }
});
