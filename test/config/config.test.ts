import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, ConfigError, describeConfig, describeVariables, readConfig } from "../../src/config/config.ts";
import { parseRoleRule } from "../../src/shared/product/role-rules.ts";
import { DAY } from "../../src/shared/time/clock.ts";

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
      uidRange: { first: 65_600, last: 99_999 },
      expiryReminders: [14, 7, 1],
      captcha: "both",
    });
  });

  test.each([
    ["ssh.example.org", { host: "ssh.example.org", port: 22 }, "ssh.example.org"],
    ["ssh.example.org:2222", { host: "ssh.example.org", port: 2222 }, "ssh.example.org:2222"],
    ["ssh.example.org:22", { host: "ssh.example.org", port: 22 }, "ssh.example.org"],
    ["192.0.2.7:2222", { host: "192.0.2.7", port: 2222 }, "192.0.2.7:2222"],
    ["2001:db8::7", { host: "2001:db8::7", port: 22 }, "2001:db8::7"],
    ["[2001:db8::7]", { host: "2001:db8::7", port: 22 }, "2001:db8::7"],
    ["[2001:db8::7]:2222", { host: "2001:db8::7", port: 2222 }, "[2001:db8::7]:2222"],
  ])("UAM_SSH_HOST=%s is a host and a port", (value, sshHost, shown) => {
    const config = readConfig({ UAM_SSH_HOST: value }, here);
    expect(config.sshHost).toEqual(sshHost);
    expect(describeConfig(config).UAM_SSH_HOST).toBe(shown);
  });

  test.each([
    ["/home", "/home"],
    ["/home/", "/home"],
    ["//home///ext/.", "/home/ext"],
    ["/srv/./home.d/..ext", "/srv/home.d/..ext"],
  ])("UAM_HOME_BASE=%s is the directory %s", (value, homeBase) => {
    expect(readConfig({ UAM_HOME_BASE: value }, here).homeBase).toBe(homeBase);
  });

  test.each(["/", "//", "/.", "/./", "/home/..", "/home/../", "/home/../srv", "/.."])(
    "UAM_HOME_BASE=%s is refused: it is the root, or may be",
    (value) => {
      const fault = "UAM_HOME_BASE must be a directory below /, such as /home, without ..";
      expect(faultsOf({ UAM_HOME_BASE: value })).toEqual([fault]);
    },
  );

  test("UAM_CONTACT is an address or a sentence on one line", () => {
    for (const value of ["help@example.org", "Call the desk, extension 12.", "Frag Jürgen – Zimmer 7"]) {
      expect(readConfig({ UAM_CONTACT: ` ${value} ` }, here).contact).toBe(value);
    }
  });

  test("accepts no retention of audit records below the shortest one", () => {
    expect(faultsOf({ UAM_AUDIT_RETENTION: "29d" })).toEqual([
      "UAM_AUDIT_RETENTION must not be shorter than UAM_AUDIT_RETENTION_MIN (30d)",
    ]);
    expect(readConfig({ UAM_AUDIT_RETENTION: "7d", UAM_AUDIT_RETENTION_MIN: "7d" }, here)).toMatchObject({
      auditRetention: 7 * DAY,
      auditRetentionMin: 7 * DAY,
    });
  });

  test.each([
    [{}, "http://127.0.0.1:8080"],
    [{ UAM_LISTEN: "127.0.0.1:9090" }, "http://127.0.0.1:9090"],
    [{ UAM_LISTEN: "0.0.0.0:9090" }, "http://127.0.0.1:9090"],
    [{ UAM_LISTEN: "[::]:9090" }, "http://[::1]:9090"],
    [{ UAM_LISTEN: "192.0.2.7:443", UAM_TLS_CERT: "/c.pem", UAM_TLS_KEY: "/k.pem" }, "https://192.0.2.7"],
    [{ UAM_LISTEN: "127.0.0.1:0" }, "http://127.0.0.1:8080"],
    [{ UAM_LISTEN: "a^b:80" }, "http://127.0.0.1:8080"],
    [{ UAM_LISTEN: "unix:/run/uam/uam.sock" }, "http://127.0.0.1:8080"],
    [{ UAM_LISTEN: "127.0.0.1:9090", UAM_BASE_URL: "https://uam.example.org" }, "https://uam.example.org"],
  ])("%j makes its own origin %s", (environment, origin) => {
    expect(readConfig(environment, here).baseUrl).toBe(origin);
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
    ["UAM_SSH_HOST", "-oProxyCommand=id"],
    ["UAM_SSH_HOST", "user@example.org"],
    ["UAM_SSH_HOST", "example.org:0"],
    ["UAM_SSH_HOST", "example.org:70000"],
    ["UAM_SSH_HOST", "[example.org]:22"],
    ["UAM_SSH_HOST", "a b"],
    ["UAM_CONTACT", "two\nlines"],
    ["UAM_CONTACT", "turned \u202eround"],
    ["UAM_CONTACT", "x".repeat(201)],
    ["UAM_DATABASE_URL", "mysql://x"],
    ["UAM_DATABASE_URL", "postgres://user:secret@[::1/uam"],
    ["UAM_HOST_MODE", "root"],
    ["UAM_DEFAULT_TTL", "90"],
    ["UAM_DEFAULT_TTL", "3651d"],
    ["UAM_RECYCLE_PERIOD", "0d"],
    ["UAM_BACKUP_MAX_AGE", "never"],
    ["UAM_MAX_KEYS", "-1"],
    ["UAM_MAX_BODY", "1e9"],
    ["UAM_KEY_TYPES", "ssh-dss"],
    ["UAM_CAPTCHA", "yes"],
    ["UAM_ADMIN_LOGIN", "password"],
    ["UAM_ADMIN_LOGIN", "passkey"],
    ["UAM_UID_RANGE", "30000-20000"],
    ["UAM_UID_RANGE", "0-99"],
    ["UAM_GROUPS", "users, Bad Group!"],
    ["UAM_BACKUP_COMMAND", "rclone rcat far:{name}"],
    ["UAM_BACKUP_READ_COMMAND", "/usr/bin/rclone cat far:{name}"],
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

  test("reports what is missing beside a value that is itself invalid", () => {
    expect(faultsOf({ UAM_SMTP_URL: "mail.example.org", UAM_TLS_CERT: "cert.pem" })).toEqual([
      expect.stringMatching(/^UAM_TLS_CERT must be an absolute path/),
      expect.stringMatching(/^UAM_SMTP_URL must begin with/),
      "UAM_TLS_CERT and UAM_TLS_KEY must be set together",
      "UAM_MAIL_FROM must be set for mail to be sent",
    ]);
    expect(faultsOf({ UAM_RESEND_API_KEY: "key", UAM_MAIL_FROM: "nobody" })).toEqual([
      "UAM_MAIL_FROM must be an address or NAME <ADDRESS>",
    ]);
  });

  test("reads a secret from the unit's credential of its name, and from one place alone", () => {
    const directory = mkdtempSync(join(tmpdir(), "uam-test-credentials-"));
    try {
      writeFileSync(join(directory, "UAM_RESEND_API_KEY"), "of systemd\n");
      writeFileSync(join(directory, "rclone.conf"), "another program's");
      const credentials = { CREDENTIALS_DIRECTORY: directory, UAM_MAIL_FROM: "a@example.org" };
      expect(readConfig(credentials, here).resendApiKey).toBe("of systemd");
      const given = { ...credentials, UAM_RESEND_API_KEY: "x", UAM_RESEND_API_KEY_FILE: "/x" };
      expect(faultsOf(given)).toEqual([
        "UAM_RESEND_API_KEY and UAM_RESEND_API_KEY_FILE and the credential UAM_RESEND_API_KEY are both set; keep one",
      ]);
      expect(faultsOf({ ...credentials, UAM_SMTP_URL: "smtp://mail.example.org" })[0]).toContain("UAM_RESEND_API_KEY");
      for (const name of ["UAM_SMTP_ULR", "UAM_LISTEN"]) writeFileSync(join(directory, name), "");
      expect([...faultsOf(credentials)].sort()).toEqual([
        "The credential UAM_LISTEN is not a secret that uam knows; see uam serve --help",
        "The credential UAM_SMTP_ULR is not a secret that uam knows; did you mean UAM_SMTP_URL?",
      ]);
      expect(readConfig({ CREDENTIALS_DIRECTORY: join(directory, "none") }, here)).toEqual(readConfig({}, here));
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("treats a variable set empty as unset, whichever it is", () => {
    const empty = Object.fromEntries(describeVariables().flatMap(({ name }) => name.split(", ").map((it) => [it, ""])));
    expect(Object.keys(empty).length).toBeGreaterThan(30);
    expect(readConfig(empty, here)).toEqual(readConfig({}, here));
    const url = "postgres://u:p@h/db";
    expect(readConfig({ UAM_DATABASE_URL: url, UAM_DATABASE_URL_FILE: "" }, here).databaseUrl).toBe(url);
    expect(readConfig({ UAM_HOST_MOD: "" }, here)).toEqual(readConfig({}, here));
  });

  test("reports what the host lacks together with the invalid values, and checks the host only for the valid ones", () => {
    const seen: unknown[] = [];
    const lacks = (values: Partial<Config>) => {
      seen.push(values.shell, values.homeBase);
      return ["UAM_HOME_BASE is away"];
    };
    const read = () => readConfig({ UAM_SHELL: "bash", UAM_HOME_BASE: "/nowhere" }, { ...here, lacks });
    expect(read).toThrow("UAM_SHELL must be an absolute path\nUAM_HOME_BASE is away");
    expect(seen).toEqual([undefined, "/nowhere"]);
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

  test("a misspelt variable is answered with the one that was probably meant", () => {
    const read = (variables: Record<string, string>) => () =>
      readConfig(variables, { isRoot: false, currentDirectory: "/" });
    expect(read({ UAM_LOG_LEVL: "info" })).toThrow(
      "UAM_LOG_LEVL is not a variable that uam knows; did you mean UAM_LOG_LEVEL?",
    );
    expect(read({ UAM_SMTP_URL_FIL: "/x" })).toThrow("did you mean UAM_SMTP_URL_FILE?");
    expect(read({ UAM_NOTHING_LIKE_IT: "1" })).toThrow(
      "UAM_NOTHING_LIKE_IT is not a variable that uam knows; see uam serve --help",
    );
  });
});

describe("single sign-on", () => {
  const whole = {
    UAM_OIDC_ISSUER: "https://login.example.org/realms/staff",
    UAM_OIDC_CLIENT_ID: "uam",
    UAM_OIDC_CLIENT_SECRET: "hunter2",
    UAM_OIDC_ROLES: "groups:UAM Owners=owner, roles:ops=operator",
  };

  test("is read whole, and shown without its secret in a form that can be set again", () => {
    const config = readConfig({ UAM_DATA_DIR: "/d", ...whole }, { isRoot: false, currentDirectory: "/" });
    expect(config.oidcRoles?.map(parseRoleRule)).toEqual([
      { claim: "groups", value: "UAM Owners", role: "owner" },
      { claim: "roles", value: "ops", role: "operator" },
    ]);
    const shown = describeConfig(config);
    expect(shown.UAM_OIDC_ROLES).toBe("groups:UAM Owners=owner,roles:ops=operator");
    expect(shown).toMatchObject({ UAM_OIDC_CLIENT_SECRET: "(set)", UAM_OIDC_SCOPE: "openid profile email" });
    expect(shown.UAM_OIDC_NAME).toBe("single sign-on");
  });

  test("is refused by halves, each fault by name", () => {
    for (const left of ["UAM_OIDC_CLIENT_ID", "UAM_OIDC_CLIENT_SECRET", "UAM_OIDC_ROLES"] as const) {
      expect(faultsOf({ ...whole, [left]: "" })).toEqual([`UAM_OIDC_ISSUER is set without ${left}`]);
    }
    expect(faultsOf({ ...whole, UAM_OIDC_ISSUER: "", UAM_OIDC_NAME: "Staff" })).toEqual([
      "UAM_OIDC_CLIENT_ID is set without UAM_OIDC_ISSUER",
      "UAM_OIDC_CLIENT_SECRET is set without UAM_OIDC_ISSUER",
      "UAM_OIDC_ROLES is set without UAM_OIDC_ISSUER",
    ]);
    expect(faultsOf({ ...whole, UAM_CONSOLE: "off" })).toEqual([expect.stringContaining("UAM_CONSOLE=off")]);
  });

  test.each([
    ["UAM_OIDC_ISSUER", "http://login.example.org"],
    ["UAM_OIDC_ISSUER", "login.example.org"],
    ["UAM_OIDC_ISSUER", "https://login.example.org/?realm=staff"],
    ["UAM_OIDC_ISSUER", "https://me:secret@login.example.org"],
    ["UAM_OIDC_ISSUER", "file:///etc/passwd"],
    ["UAM_OIDC_SCOPE", "profile email"],
    ["UAM_OIDC_SCOPE", 'openid "'],
    ["UAM_OIDC_NAME", "two\nlines"],
    ["UAM_OIDC_ROLES", "groups=owner"],
    ["UAM_OIDC_ROLES", "groups:owners"],
    ["UAM_OIDC_ROLES", "groups:owners=root"],
    ["UAM_OIDC_ROLES", "groups:=owner"],
    ["UAM_OIDC_ROLES", "groups:a=owner,"],
    ["UAM_OIDC_ROLES", "groups:50%=owner"],
  ])("refuses %s=%p", (name, value) => {
    expect(faultsOf({ ...whole, [name]: value })).toEqual([expect.stringContaining(name)]);
  });

  test("takes an issuer without TLS on the same machine only", () => {
    for (const issuer of ["http://127.0.0.1:4000", "http://localhost:4000/x", "http://[::1]:4000"]) {
      expect(faultsOf({ ...whole, UAM_OIDC_ISSUER: issuer })).toEqual([]);
    }
  });
});

describe("parseRoleRule()", () => {
  test("takes any claim and value: the first colon and the last equals sign part them, and escapes stand for these", () => {
    const of = (text: string) => Object.values(parseRoleRule(text));
    expect(of("roles:urn:example:uam=admin=owner")).toEqual(["roles", "urn:example:uam=admin", "owner"]);
    expect(of("https%3A//example.org/roles:ops=operator")).toEqual(["https://example.org/roles", "ops", "operator"]);
    expect(of("groups:a%2Cb%3D%25=auditor")).toEqual(["groups", "a,b=%", "auditor"]);
  });
});
