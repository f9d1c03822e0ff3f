import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "../../../../src/cli/program.ts";
import { readConfig } from "../../../../src/config/config.ts";
import { checkDatabase } from "../../../../src/doctor/database.ts";
import { type Examination, examine } from "../../../../src/doctor/doctor.ts";
import { checkCertificate, checkProcessLimit } from "../../../../src/doctor/files.ts";
import type { Finding } from "../../../../src/doctor/finding.ts";
import { addAdmin } from "../../../../src/domain/auth/administrators/add-admin.ts";
import { updateAdmin } from "../../../../src/domain/auth/administrators/admin-changes.ts";
import { beat } from "../../../../src/domain/lifecycle/heartbeat.ts";
import type { Host } from "../../../../src/protocol/host.ts";
import { bunRuntime } from "../../../../src/runtime/bun.ts";
import { openToLook } from "../../../../src/server/compose.ts";
import { UamError } from "../../../../src/shared/errors.ts";
import { silentLog } from "../../../../src/shared/log.ts";
import { DAY, MINUTE } from "../../../../src/shared/time/clock.ts";
import { type ConnectionOptions, openDatabase } from "../../../../src/store/client.ts";
import { outbox } from "../../../../src/store/schema.ts";
import { serviceState } from "../../../../src/store/schema-service.ts";
import { createTestApp, type TestApp } from "../../../support/app.ts";
import { createTestDatabase } from "../../../support/database.ts";
import { freePort } from "../../../support/port.ts";
import { startPostgresNodes } from "../../../support/postgres-nodes.ts";
import { testSlow } from "../../../support/thorough.ts";
import { needs } from "../../../support/tools.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-doctor-"));
let app: TestApp;
let dataDir = "";
afterAll(() => rmSync(top, { recursive: true, force: true }));

/** Findings with the test's database and host; `overrides` change what is examined. */
function examineApp(overrides: Partial<Examination> = {}, config: Partial<Examination["config"]> = {}) {
  return examine({
    config: {
      ...app.config,
      dataDir,
      mailLog: join(dataDir, "mail.log"),
      auditKeyFile: join(dataDir, "audit.key"),
      environmentFile: join(dataDir, "uam.env"),
      ...config,
    },
    isRoot: true,
    fix: false,
    open: async () => ({ services: app.services, close: async () => {} }),
    service: { address: "127.0.0.1:8080", ask: async () => undefined },
    sudoFault: () => undefined,
    // Half a second of a processor each time, where apt keeps no index of its lists.
    checkCarried: async () => [],
    ...overrides,
  });
}

function faults(findings: readonly Finding[]): readonly string[] {
  return findings.flatMap(({ area, state, finding }) => (state === "fault" ? [`${area}: ${finding}`] : []));
}

/** The test's services on a host that reports one difference, and repairs it when told to. */
function driftingHost(): Examination["open"] {
  const host: Host = {
    ...app.host,
    reconcile: async (accounts, checkOnly) =>
      accounts.map(({ name }) => ({
        account: name,
        kind: "key_file",
        problem: "its key file is missing",
        repaired: !checkOnly,
      })),
  };
  return async () => ({ services: { ...app.services, host }, close: async () => {} });
}

describe("doctor", () => {
  beforeAll(async () => {
    app = await createTestApp();
  }, 180_000);
  beforeEach(() => {
    dataDir = mkdtempSync(join(top, "data-"));
  });
  afterAll(async () => await app.close());

  test("examine() finds only the missing administrator on a new installation", async () => {
    expect(faults(await examineApp())).toEqual(["administrators: There is no administrator"]);
    await addAdmin(app.system, "chief", "chief@example.org", "seven lanterns over cold water");
    expect(faults(await examineApp())).toEqual([]);
  });

  test("examine() asks this machine's package lists about the carried PostgreSQL, and about no other", async () => {
    const carried = async (databaseUrl?: string) => {
      const open = () => Promise.reject(new Error("opened"));
      const findings = await examineApp({ checkCarried: undefined, open }, { databaseUrl });
      return findings.filter(({ finding }) => finding.startsWith("The carried PostgreSQL is "));
    };
    expect(await carried()).toMatchObject([{ area: "database" }]);
    expect(await carried(`postgres://127.0.0.1:${await freePort()}/uam`)).toEqual([]);
  });

  test("examine() finds that nobody is an owner", async () => {
    await updateAdmin(app.system, "chief", { role: "operator", which: "even-the-last" });
    expect(faults(await examineApp())).toEqual(["administrators: No administrator is an owner who can log in"]);
    await updateAdmin(app.system, "chief", { role: "owner" });
    expect(faults(await examineApp())).toEqual([]);
  });

  test("examine() gives every fault and every note a remedy", async () => {
    const findings = await examineApp({ isRoot: false }, { hostMode: "direct", tlsCert: "/nonexistent" });
    expect(faults(findings)).toEqual([
      "host: Direct mode needs root",
      ...(needs("sshd") ? [] : ["sshd: This host has no sshd"]),
      expect.stringMatching(/^TLS: \/nonexistent cannot be read as a certificate/),
    ]);
    for (const { state, remedy } of findings) expect(remedy !== undefined).toBe(state === "fault" || state === "note");
  });

  test("examine() advises key files outside the homes in direct mode, and does not call it a fault", async () => {
    const notes = async (config: Partial<Examination["config"]>) =>
      (await examineApp({}, config)).filter(({ area, state }) => state === "note" && area === "sshd");
    expect(await notes({ hostMode: "direct" })).toMatchObject([
      { area: "sshd", remedy: expect.stringContaining("uam install --mode direct --move-keys") },
    ]);
    expect(await notes({ hostMode: "direct", authorizedKeysFile: "/var/lib/uam/keys/%u/authorized_keys" })).toEqual([]);
    expect(await notes({ hostMode: "sudo", authorizedKeysFile: "%h/.ssh/authorized_keys" })).toEqual([]);
  });

  test("examine() advises a socket where a proxy on a host that has users is trusted by its address", async () => {
    const notes = async (config: Partial<Examination["config"]>, address = "127.0.0.1:8080") => {
      const service = { address, ask: async () => undefined };
      return (await examineApp({ service }, config)).filter(({ area }) => area === "proxy");
    };
    const trustedProxies = ["127.0.0.1"];
    expect(await notes({ hostMode: "direct", trustedProxies })).toMatchObject([
      { state: "note", remedy: expect.stringContaining("UAM_LISTEN=unix:") },
    ]);
    expect(await notes({ hostMode: "dry-run", trustedProxies })).toEqual([]);
    expect(await notes({ hostMode: "direct", localHost: false, trustedProxies })).toEqual([]);
    expect(await notes({ hostMode: "direct", trustedProxies: ["unix"] }, "unix:/run/uam/uam.sock")).toEqual([]);
  });

  test("examine() reports a range of uids from which others get theirs, where the host is changed", async () => {
    const range = (hostMode: "dry-run" | "direct", first: number) =>
      examineApp({}, { hostMode, uidRange: { first, last: first + 9 } }).then((findings) =>
        faults(findings).filter((fault) => fault.startsWith("uids: ")),
      );
    expect(await range("direct", 65_600)).toEqual([]);
    expect(await range("dry-run", 20_000)).toEqual([]);
    const [fault = ""] = await range("direct", 20_000);
    expect(fault).toContain("UAM_UID_RANGE is 20000-20009, which others get numbers of: UID_MIN to UID_MAX");
  });

  test("examine() reports accounts that differ, and repairs them only with fix", async () => {
    await app.user("anna");
    const drift = { area: "accounts", finding: "ext_anna: its key file is missing" };
    const look = async (fix: boolean) =>
      (await examineApp({ fix, open: driftingHost() })).filter((f) => f.area === "accounts");
    const remedy = expect.stringContaining("uam doctor --fix repairs");
    expect(await look(false)).toMatchObject([{ ...drift, state: "fault", remedy }]);
    expect(await look(true)).toMatchObject([{ ...drift, state: "fixed" }]);
  });

  test("examine() reports rights that others should not have, and takes them away only with fix", async () => {
    const log = join(dataDir, "mail.log");
    writeFileSync(log, "");
    chmodSync(log, 0o644);
    chmodSync(dataDir, 0o777);
    expect(faults(await examineApp()).filter((fault) => fault.startsWith("data: "))).toHaveLength(2);
    expect(statSync(dataDir).mode & 0o777).toBe(0o777);
    chmodSync(log, 0o644);
    expect(faults(await examineApp({ fix: true })).filter((fault) => fault.startsWith("data: "))).toEqual([]);
    expect([statSync(log).mode & 0o777, statSync(dataDir).mode & 0o777]).toEqual([0o600, 0o711]);
  });

  test("examine() reports a key of the audit log that others can read, and a host that lacks what accounts need", async () => {
    writeFileSync(join(dataDir, "audit.key"), "");
    chmodSync(join(dataDir, "audit.key"), 0o644);
    const lacking = { shell: "/bin/nosh", homeBase: join(top, "no-homes"), groups: ["no-such-group", "daemon"] };
    expect(faults(await examineApp({}, lacking)).filter((fault) => !fault.startsWith("mail: "))).toEqual([
      expect.stringMatching(/^data: .*audit\.key has mode 0644/),
      "host: UAM_SHELL is /bin/nosh, which is not a program on this host",
      expect.stringMatching(/^host: UAM_HOME_BASE is .*no-homes, which is not a directory/),
      "host: UAM_GROUPS names no-such-group, a group that this host does not have",
    ]);
    expect((await examineApp({ fix: true })).map(({ state }) => state)).toContain("fixed");
    expect(statSync(join(dataDir, "audit.key")).mode & 0o777).toBe(0o600);
  });

  test("examine() continues when the database cannot be opened, and says why", async () => {
    const open = () => Promise.reject(new UamError("internal", "PostgreSQL is not there"));
    const findings = await examineApp({ open });
    expect(faults(findings)).toEqual(["database: PostgreSQL is not there"]);
    expect(findings.map(({ area }) => area)).toContain("mail");
  });

  test("examine() reports failed and delayed mail, and a server that does not answer", async () => {
    const old = new Date(Date.now() - 7_200_000);
    const mail = { recipient: "a@example.org", subject: "s", text: "t", html: "h", createdAt: old, dueAt: old };
    await app.db.delete(outbox);
    await app.db.insert(outbox).values([{ ...mail, status: "dead", lastError: "550 no such user" }, mail]);
    const port = await freePort();
    const found = faults(await examineApp({}, { smtpUrl: `smtp://127.0.0.1:${port}`, mailFrom: "uam@example.org" }));
    const ofMail = found.filter((fault) => fault.startsWith("mail: "));
    expect(ofMail.slice(0, 2)).toEqual([
      "mail: 1 mail could not be sent; the last error was: 550 no such user",
      "mail: 1 mail waiting for more than an hour; the last error was: 550 no such user",
    ]);
    expect(ofMail).toHaveLength(3);
  });

  test("examine() in sudo mode reports what sudo does not allow", async () => {
    const checkSudo = async () => ["useradd is not allowed"];
    const found = faults(await examineApp({ isRoot: false, checkSudo }, { hostMode: "sudo" }));
    expect(found).toContain("host: useradd is not allowed");
    const asRoot = await examineApp({ checkSudo }, { hostMode: "sudo" });
    expect(asRoot.filter(({ state }) => state === "skipped").map(({ area }) => area)).toContain("host");
  });

  test("examine() asks the service itself, and says when it last ran, and until when nothing is deleted", async () => {
    const ask = async (answer?: string) =>
      (await examineApp({ service: { address: "unix:/run/uam.sock", ask: async () => answer } })).filter(
        ({ area }) => area === "service",
      );
    await app.db.delete(serviceState);
    expect(await ask("ECONNREFUSED")).toMatchObject([
      { state: "fault", finding: expect.stringContaining("it has not recorded a heartbeat yet") },
    ]);
    await beat(app.services);
    // Stopped a moment ago: its heartbeat is as recent as that of one that runs.
    expect(await ask("ECONNREFUSED")).toMatchObject([
      {
        state: "fault",
        finding: expect.stringMatching(
          /^The service does not answer at unix:\/run\/uam\.sock \(ECONNREFUSED\); its last/,
        ),
        remedy: expect.stringContaining("systemctl start uam"),
      },
    ]);
    expect(await ask()).toMatchObject([{ state: "ok", finding: "The service answers at unix:/run/uam.sock" }]);
    app.clock.advance(DAY + 10 * MINUTE);
    expect((await ask("timeout")).map(({ state }) => state)).toEqual(["fault", "ok"]);
    await beat(app.services);
    expect(await ask()).toMatchObject([
      { state: "ok" },
      { state: "ok", finding: expect.stringContaining("uam recycle --now") },
    ]);
  });

  test("examine() notes plain HTTP on a public name, and mail that goes nowhere where the host is changed", async () => {
    const notes = async (config: Partial<Examination["config"]>) =>
      (await examineApp({ checkSudo: async () => [] }, config)).flatMap(({ state, area }) =>
        state === "note" && (area === "TLS" || area === "mail") ? [area] : [],
      );
    for (const baseUrl of [
      "http://127.0.0.1:8080",
      "http://localhost:1",
      "http://[::1]:8080",
      "https://uam.example.org",
    ])
      expect(await notes({ baseUrl })).toEqual([]);
    expect(await notes({ baseUrl: "http://uam.example.org" })).toEqual(["TLS"]);
    expect(await notes({ hostMode: "direct" })).toEqual(["mail"]);
  });

  test("examine() finds an environment file that others can read, and --fix closes it", async () => {
    const path = join(dataDir, "uam.env");
    const state = async (fix: boolean) =>
      (await examineApp({ fix })).find(({ finding }) => finding.startsWith(path))?.state;
    writeFileSync(path, "UAM_SMTP_URL=smtp://name:secret@mail\n", { mode: 0o644 });
    expect(await state(false)).toBe("fault");
    expect(await state(true)).toBe("fixed");
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(await state(false)).toBe("ok");
  });

  test("examine() in sudo mode names everything that root does not check", async () => {
    const open = () => Promise.reject(new Error("opened"));
    const findings = await examineApp({ open, checkSudo: async () => [] }, { hostMode: "sudo" });
    const skipped = findings.filter(({ state }) => state === "skipped");
    expect(skipped.map(({ area }) => area)).toEqual(
      expect.arrayContaining(["host", "database", "service", "accounts", "administrators", "mail"]),
    );
    for (const { finding } of skipped.filter(({ area }) => area !== "clock" && area !== "data")) {
      expect(finding).toContain("sudo -u uam uam doctor");
    }
  });

  test("checkProcessLimit() advises a limit if there is none", () => {
    const path = join(dataDir, "limits.conf");
    expect(checkProcessLimit(path)).toMatchObject([{ state: "note", remedy: `uam install writes ${path}` }]);
    writeFileSync(path, "");
    expect(checkProcessLimit(path)).toEqual([]);
  });

  test("examine() neither creates the mail log nor sets its mode", async () => {
    const log = join(dataDir, "mail.log");
    await examineApp();
    expect(existsSync(log)).toBe(false);
    writeFileSync(log, "");
    chmodSync(log, 0o640);
    await examineApp();
    expect(statSync(log).mode & 0o777).toBe(0o640);
  });

  test.if(needs("openssl"))("checkCertificate() reports one that ends within two weeks", () => {
    const path = join(top, "cert.pem");
    const args = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=a"];
    spawnSync("openssl", [...args, "-days", "10", "-keyout", join(top, "key.pem"), "-out", path]);
    const now = Date.now();
    const at = (days: number) => checkCertificate(path, { now: () => new Date(now + days * 86_400_000) });
    expect(at(0)[0]).toMatchObject({ state: "fault", finding: expect.stringContaining("only") });
    expect(at(-10)[0]).toMatchObject({ state: "ok" });
    expect(at(11)[0]).toMatchObject({ state: "fault", finding: expect.stringContaining("has expired") });
  });
});

describe("openToLook", () => {
  const configOf = (variables: Readonly<Record<string, string>>) =>
    readConfig(variables, { isRoot: false, currentDirectory: top });

  test("openToLook() creates no database", async () => {
    const path = join(top, "nothing-here");
    const opening = openToLook(configOf({ UAM_DATA_DIR: path }), silentLog, bunRuntime);
    await expect(opening).rejects.toThrow(`There is no database in ${path} yet`);
    expect(existsSync(path)).toBe(false);
  });

  test("openToLook() refuses a database of an older version, and leaves it as it is", async () => {
    const database = await createTestDatabase();
    const { db, close } = openDatabase(database.superuser, 1);
    try {
      await db.execute("drop schema public cascade; create schema public");
      const { host, username, database: name } = database.superuser as Extract<ConnectionOptions, { host: string }>;
      const url = `postgres://${username}@localhost/${name}?host=${host}`;
      const opening = openToLook(
        configOf({ UAM_DATABASE_URL: url, UAM_DATA_DIR: join(top, "look") }),
        silentLog,
        bunRuntime,
      );
      await expect(opening).rejects.toThrow("uam migrate");
      expect(await db.execute("select 1 from pg_class where relnamespace = 'public'::regnamespace")).toHaveLength(0);
      expect(existsSync(join(top, "look"))).toBe(false);
    } finally {
      await close();
      await database.drop();
    }
  });
});

describe("uam doctor", () => {
  test("runProgram() prints configuration faults as findings, as JSON on request, and exits with 1", async () => {
    mkdirSync(join(top, "cwd"), { recursive: true });
    let out = "";
    const run = (...args: readonly string[]) =>
      runProgram(["doctor", ...args], {
        variables: { UAM_LISTEN: "nowhere", UAM_MAX_KEYS: "0" },
        currentDirectory: join(top, "cwd"),
        isRoot: false,
        invocation: "uam",
        operator: "operator",
        isTerminal: false,
        columns: undefined,
        outStream: async () => {},
        ask: undefined,
        runtime: bunRuntime,
        out: (text) => {
          out += text;
        },
        err: () => {},
        readStandardInput: async () => "",
        untilStopped: () => Promise.resolve(),
      });
    expect(await run("--json")).toBe(1);
    expect(JSON.parse(out)).toMatchObject([
      { area: "configuration", state: "fault", finding: "UAM_LISTEN must be ADDRESS:PORT or unix:/PATH" },
      { area: "configuration", state: "fault", finding: "UAM_MAX_KEYS must be at least 1" },
    ]);
    out = "";
    expect(await run()).toBe(1);
    expect(out).toContain("fault   configuration   UAM_MAX_KEYS must be at least 1\n");
  });
});

describe("uam doctor as root in sudo mode", () => {
  const HOSTILE = "\u001b]0;owned\u0007 \u009b31m\r\u202e";
  async function run(said: string, ...args: readonly string[]): Promise<string> {
    let out = "";
    await runProgram(["doctor", ...args], {
      variables: { UAM_HOST_MODE: "sudo", UAM_DATA_DIR: join(top, "of-the-service") },
      currentDirectory: top,
      isRoot: true,
      invocation: "uam",
      operator: "operator",
      runAsService: () => said,
      isTerminal: false,
      columns: undefined,
      outStream: async () => {},
      ask: undefined,
      runtime: bunRuntime,
      out: (text) => {
        out += text;
      },
      err: () => {},
      readStandardInput: async () => "",
      untilStopped: () => Promise.resolve(),
    });
    return out;
  }

  testSlow("passes on what the service's user finds, and nothing in it that a terminal obeys", async () => {
    const finding = { area: "accounts", state: "fault", finding: `here: ${HOSTILE}`, remedy: HOSTILE };
    const text = await run(JSON.stringify([finding]));
    expect(text).toContain("here: \\x1b]0;owned\\x07 \\x9b31m\\x0d\\u202e\n");
    expect(text.replace(/\n/g, "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    const json = await run(JSON.stringify([finding]), "--json");
    expect(json.replace(/\n/g, "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(json)).toContainEqual(finding);
  });

  testSlow("says so where that is no list of findings", async () => {
    for (const said of ["", "{}", "[1]", '[{"area":"accounts","state":"ok","finding":{"length":3}}]'])
      expect(await run(said)).toContain("The service's user cannot run uam doctor");
  });
});

describe("uam doctor before an external database", () => {
  testSlow(
    "says what the database does not do, and looks no further into it",
    async () => {
      const cluster = await startPostgresNodes(1, { fsync: "off", synchronous_commit: "off" });
      try {
        const [primary, standby] = cluster.nodes;
        if (primary === undefined || standby === undefined) throw new Error("two nodes are needed");
        const open = async () => {
          throw new Error("opened");
        };
        const at = async (node: typeof primary) =>
          (await examineApp({ open }, { databaseUrl: cluster.url("", [node]) })).filter(
            ({ area }) => area === "database",
          );
        expect(await at(standby)).toMatchObject([
          { state: "fault", finding: "The database server is a standby, which takes no changes" },
        ]);
        expect(await at(primary)).toMatchObject([{ state: "fault", finding: "opened" }]);
        const main = openDatabase({ url: cluster.url("", [primary]) }, 1);
        expect((await checkDatabase(main.db, true)).map(({ state, finding }) => `${state}: ${finding}`)).toEqual([
          expect.stringMatching(/^ok: PostgreSQL .* answers$/),
          "fault: The role postgres is a superuser of PostgreSQL",
          "fault: fsync is off: a crash of the machine destroys the database",
          "fault: synchronous_commit is off: a crash loses the last changes",
          "note: No commit waits for a standby: a failover loses the last changes",
        ]);
        await main.close();
      } finally {
        await cluster.close();
      }
    },
    180_000,
  );
});
