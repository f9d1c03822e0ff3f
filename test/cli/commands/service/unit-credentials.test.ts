import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unitCredentials } from "../../../../src/cli/commands/service/unit-credentials.ts";
import { readConfig } from "../../../../src/config/config.ts";
import { renderUnit } from "../../../../src/install/unit.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-unit-credentials-"));
const unit = join(top, "uam.service");
afterAll(() => rmSync(top, { recursive: true, force: true }));

const KEPT = "/run/credentials/uam.service";

test("unitCredentials() are those that the unit and its drop-ins name, where nothing else gives the secret", () => {
  expect(unitCredentials({}, unit)).toEqual({});
  writeFileSync(
    unit,
    renderUnit({ mode: "direct", source: "/usr/bin/uam", homeBase: "/home", authorizedKeysFile: "/k/%u" }),
  );
  // The example in it is a comment.
  expect(unitCredentials({}, unit)).toEqual({});
  mkdirSync(`${unit}.d`);
  const lines = [
    ...["[Service]", "LoadCredentialEncrypted=UAM_DATABASE_URL:/etc/credstore.encrypted/UAM_DATABASE_URL"],
    ...[
      "LoadCredential=UAM_SMTP_URL:/etc/uam/smtp",
      "SetCredentialEncrypted=UAM_AUDIT_KEY: \\",
      "  x",
      "LoadCredential=a:/b",
    ],
  ];
  writeFileSync(join(`${unit}.d`, "secrets.conf"), lines.join("\n"));
  expect(unitCredentials({}, unit)).toEqual({
    UAM_DATABASE_URL_FILE: `${KEPT}/UAM_DATABASE_URL`,
    UAM_SMTP_URL_FILE: `${KEPT}/UAM_SMTP_URL`,
    UAM_AUDIT_KEY_FILE: `${KEPT}/UAM_AUDIT_KEY`,
  });
  writeFileSync(join(top, "UAM_AUDIT_KEY"), "x");
  const given = { UAM_DATABASE_URL: "postgres://x", UAM_SMTP_URL_FILE: "/x", CREDENTIALS_DIRECTORY: top };
  expect(unitCredentials(given, unit)).toEqual({});
});

test("while the service is stopped its secrets are missing, and not unset", () => {
  const surroundings = { isRoot: true, currentDirectory: "/" };
  expect(() =>
    readConfig(unitCredentials({ UAM_AUDIT_KEY: "ab".repeat(32), UAM_SMTP_URL: "smtp://x" }, unit), surroundings),
  ).toThrow(/UAM_DATABASE_URL_FILE names a file that cannot be read: .*, where it is while the service runs/);
});

test.skipIf(process.getuid?.() === 0)("a drop-in that only root can read is nobody else's business", () => {
  chmodSync(join(`${unit}.d`, "secrets.conf"), 0);
  expect(unitCredentials({}, unit)).toEqual({});
});
