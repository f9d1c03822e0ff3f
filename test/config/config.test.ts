import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError, describeConfig, readConfig } from "../../src/config/config.ts";
import { DAY } from "../../src/shared/clock.ts";

const here = { isRoot: false, currentDirectory: "/somewhere" };

function faultsOf(variables: Record<string, string>): readonly string[] {
  try {
    readConfig(variables, here);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe("readConfig()", () => {
  test("has a default for everything", () => {
    const config = readConfig({}, here);
    expect(config).toMatchObject({
      listen: { kind: "tcp", hostname: "127.0.0.1", port: 8080 },
      dataDir: "/somewhere/.uam",
      mailLog: "/somewhere/.uam/mail.log",
      hostMode: "dry-run",
      defaultTtl: 90 * DAY,
      uidRange: { first: 20_000, last: 59_999 },
      expiryReminders: [14, 7, 1],
      captcha: true,
    });
  });

  test("takes no retention of audit records below the shortest one", () => {
    expect(faultsOf({ UAM_AUDIT_RETENTION: "29d" })).toEqual([
      "UAM_AUDIT_RETENTION must not be shorter than UAM_AUDIT_RETENTION_MIN (30d)",
    ]);
    expect(readConfig({ UAM_AUDIT_RETENTION: "7d", UAM_AUDIT_RETENTION_MIN: "7d" }, here)).toMatchObject({
      auditRetention: 7 * DAY,
      auditRetentionMin: 7 * DAY,
    });
  });

  test("puts the data where systemd says, else where root keeps such things", () => {
    expect(readConfig({}, { ...here, isRoot: true }).dataDir).toBe("/var/lib/uam");
    expect(readConfig({ STATE_DIRECTORY: "/var/lib/x:/var/lib/y" }, { ...here, isRoot: true }).dataDir).toBe(
      "/var/lib/x",
    );
    expect(readConfig({ UAM_DATA_DIR: "/d", STATE_DIRECTORY: "/e" }, here).dataDir).toBe("/d");
  });

  test.each([
    ["UAM_LISTEN", "8080"],
    ["UAM_LISTEN", "127.0.0.1:70000"],
    ["UAM_BASE_URL", "https://uam.example.org/path"],
    ["UAM_DATA_DIR", "relative"],
    ["UAM_DATABASE_URL", "mysql://x"],
    ["UAM_DATABASE_URL", "postgres://user:secret@[::1/uam"],
    ["UAM_RESEND_API_KEY", ""],
    ["UAM_HOST_MODE", "root"],
    ["UAM_DEFAULT_TTL", "90"],
    ["UAM_DEFAULT_TTL", "3651d"],
    ["UAM_RECYCLE_PERIOD", "0d"],
    ["UAM_MAX_KEYS", "-1"],
    ["UAM_MAX_BODY", "1e9"],
    ["UAM_KEY_TYPES", "ssh-dss"],
    ["UAM_CAPTCHA", "yes"],
    ["UAM_UID_RANGE", "30000-20000"],
    ["UAM_UID_RANGE", "0-99"],
    ["UAM_GROUPS", "users, Bad Group!"],
    ["UAM_SHELL", "bash"],
    ["UAM_CORS_ORIGINS", "https://a.example, b.example"],
    ["UAM_TLS_CERT", "/cert.pem"],
    ["UAM_SMTP_URL", "smtp://mail.example.org"],
    ["UAM_HOST_MOD", "direct"],
  ])("refuses %s=%s by name", (name, value) => {
    const faults = faultsOf({ [name]: value });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(name === "UAM_SMTP_URL" ? "UAM_MAIL_FROM" : name);
  });

  test("reports all faults at once, and no secret", () => {
    const faults = faultsOf({ UAM_LISTEN: "x", UAM_HOST_MODE: "x", UAM_DATABASE_URL: "hunter2" });
    expect(faults).toHaveLength(3);
    expect(faults.join()).not.toContain("hunter2");
  });

  test("reads a secret from a file, and refuses one given twice or a file that is not there", () => {
    const directory = mkdtempSync(join(tmpdir(), "uam-config-"));
    const file = join(directory, "url");
    writeFileSync(file, "postgres://u:p@h/db\n");
    expect(readConfig({ UAM_DATABASE_URL_FILE: file }, here).databaseUrl).toBe("postgres://u:p@h/db");
    expect(faultsOf({ UAM_DATABASE_URL_FILE: file, UAM_DATABASE_URL: "postgres://x" })).toHaveLength(1);
    expect(faultsOf({ UAM_DATABASE_URL_FILE: "/no/such/file" })[0]).toContain("/no/such/file");
    rmSync(directory, { recursive: true });
  });
});

describe("describeConfig()", () => {
  test("hides secrets", () => {
    const shown = describeConfig(readConfig({ UAM_DATABASE_URL: "postgres://u:hunter2@h/db" }, here));
    expect(shown.UAM_DATABASE_URL).toBe("(set)");
    expect(JSON.stringify(shown)).not.toContain("hunter2");
  });
});
