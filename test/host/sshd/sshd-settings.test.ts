import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { judgeSshd } from "../../../src/doctor/sshd.ts";
import { createHostKeys } from "../../../src/host/sshd/host-keys.ts";
import { createKeyFilePatterns } from "../../../src/host/sshd/sshd.ts";
import { faultIn, parseSshdSettings, valuesOf } from "../../../src/host/sshd/sshd-settings.ts";
import { requireExpected } from "../../../src/install/apply.ts";
import { CENTRAL_KEY_FILE, REVOKED_KEYS_FILE } from "../../../src/install/settings.ts";
import { sshdDropInStep } from "../../../src/install/sshd-drop-in.ts";
import { RECORDED_VERSIONS, sshdSaid } from "../../support/sshd-recordings.ts";

/** Some program has to be there; what it says is recorded. */
const SSHD = { sshd: process.execPath };
const answers = (stdout: string) => async () => ({ exitCode: 0, stdout, stderr: "" });
/** The text without the lines of that setting. */
const without = (text: string, name: string) =>
  text
    .split("\n")
    .filter((line) => !line.toLowerCase().startsWith(`${name.toLowerCase()} `))
    .join("\n");

for (const version of RECORDED_VERSIONS) {
  describe(`what OpenSSH ${version} says`, () => {
    test("is read whatever the case of its names, values as they are", () => {
      const settings = parseSshdSettings(sshdSaid(version, "installed"));
      expect(faultIn(settings)).toBeUndefined();
      expect(valuesOf(settings, "AuthorizedKeysFile")).toEqual([CENTRAL_KEY_FILE]);
      expect(valuesOf(settings, "revokedkeys")).toEqual([REVOKED_KEYS_FILE]);
      expect(valuesOf(settings, "HOSTKEY")).toContain("/etc/ssh/ssh_host_ed25519_key");
      expect(valuesOf(settings, "AcceptEnv")).toContain("LC_*");
    });

    test("names the second key file of a host without the drop-in", async () => {
      const patterns = createKeyFilePatterns(SSHD, answers(sshdSaid(version, "default")));
      expect(await patterns.of("ext_a")).toEqual({
        patterns: [".ssh/authorized_keys", ".ssh/authorized_keys2"],
        problem: undefined,
        isStrange: false,
      });
    });

    test("passes the installation's check and the doctor's with the drop-in, and neither without", () => {
      const step = sshdDropInStep(CENTRAL_KEY_FILE);
      const expected = { authorizedKeysFile: CENTRAL_KEY_FILE, groups: ["uam-ext"] };
      const judged = (how: "default" | "installed") =>
        judgeSshd(parseSshdSettings(sshdSaid(version, how)), expected).map(({ state }) => state);
      requireExpected(step, sshdSaid(version, "installed"));
      expect(judged("installed")).toEqual(["ok"]);
      expect(() => requireExpected(step, sshdSaid(version, "default"))).toThrow("sshd does not read");
      expect(judged("default")).toContain("fault");
    });

    test("names the host's keys", async () => {
      const directory = mkdtempSync(join(tmpdir(), "uam-recorded-"));
      writeFileSync(join(directory, "ssh_host_ed25519_key.pub"), "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA root@host\n");
      const text = sshdSaid(version, "installed").replaceAll("/etc/ssh/", `${directory}/`);
      const keys = await createHostKeys(SSHD, answers(text), "/nowhere")();
      expect(keys.map(({ type }) => type)).toEqual(["ssh-ed25519"]);
      rmSync(directory, { recursive: true });
    });

    test("is a fault that is named, not an answer, once a line that every sshd says is missing", async () => {
      const text = without(sshdSaid(version, "installed"), "AuthorizedKeysFile");
      const patterns = createKeyFilePatterns(SSHD, answers(text));
      const sentence = "sshd -T does not say what AuthorizedKeysFile is: its answer is not understood";
      expect(await patterns.of("ext_a")).toEqual({ patterns: undefined, problem: sentence, isStrange: true });
      expect(() => requireExpected(sshdDropInStep(CENTRAL_KEY_FILE), text)).toThrow(sentence);
    });
  });
}

describe("createKeyFilePatterns()", () => {
  test("keeps the last answer that was understood, and names what is wrong with the newest", async () => {
    const said = [sshdSaid("10.0", "default"), "Something Else\n", sshdSaid("10.6", "installed")];
    const patterns = createKeyFilePatterns(SSHD, async () => ({
      exitCode: 0,
      stdout: said.shift() ?? "",
      stderr: "",
    }));
    const known = [".ssh/authorized_keys", ".ssh/authorized_keys2"];
    expect(await patterns.of("ext_a")).toEqual({ patterns: known, problem: undefined, isStrange: false });
    patterns.refresh();
    const second = await patterns.of("ext_a");
    expect(second.patterns).toEqual(known);
    expect(second.problem).toContain("not understood");
    patterns.refresh();
    expect(await patterns.of("ext_a")).toEqual({ patterns: [CENTRAL_KEY_FILE], problem: undefined, isStrange: false });
  });

  test("asks with -G where sshd's own directory is missing until the first connection", async () => {
    const asked: string[] = [];
    const patterns = createKeyFilePatterns(SSHD, async (argv) => {
      asked.push(argv.slice(1, argv.indexOf("-C")).join(" "));
      // Recorded: -G with -C and without -T is "Config test connection parameter (-C) provided without test mode (-T)".
      return argv.includes("-T") && argv.includes("-G")
        ? { exitCode: 0, stdout: sshdSaid("10.6", "installed"), stderr: "" }
        : { exitCode: 255, stdout: "", stderr: "Missing privilege separation directory: /run/sshd\n" };
    });
    expect((await patterns.of("ext_a")).patterns).toEqual([CENTRAL_KEY_FILE]);
    expect(asked).toEqual(["-T", "-T -G"]);
  });

  test("names the missing directory where sshd, as until 9.2, knows no -G", async () => {
    const refuses = async (argv: readonly string[]) => ({
      exitCode: argv.includes("-G") ? 1 : 255,
      stdout: "",
      stderr: argv.includes("-G")
        ? "sshd: invalid option -- 'G'\nusage: sshd [-46DdeiqTtV] [-C connection_spec]\n            [-h host_key_file]\n"
        : "Missing privilege separation directory: /run/sshd\n",
    });
    const { problem } = await createKeyFilePatterns(SSHD, refuses).of("ext_a");
    expect(problem).toBe(
      "sshd does not say which key files it reads: Missing privilege separation directory: /run/sshd",
    );
  });

  test("names why sshd refuses to answer", async () => {
    const refuses = async () => ({
      exitCode: 255,
      stdout: "",
      stderr: "/etc/ssh/sshd_config: line 3: Bad configuration\n",
    });
    const { patterns, problem } = await createKeyFilePatterns(SSHD, refuses).of("ext_a");
    expect(patterns).toBeUndefined();
    expect(problem).toBe("sshd does not say which key files it reads: /etc/ssh/sshd_config: line 3: Bad configuration");
  });

  test("knows nothing, and has no fault to name, where there is no sshd", async () => {
    const patterns = createKeyFilePatterns({ sshd: "/nowhere/no-such-sshd" });
    expect(await patterns.of("ext_a")).toEqual({ patterns: undefined, problem: undefined, isStrange: false });
  });
});

test.if(existsSync("/usr/sbin/sshd") && existsSync("/usr/bin/ssh-keygen"))(
  "sshd says which key files it reads also where its configuration asks for the port that a client came to",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "uam-test-match-"));
    try {
      const key = join(directory, "key");
      spawnSync("/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
      const sshdConfig = join(directory, "sshd_config");
      const other = "Match LocalPort 2222\n  PasswordAuthentication no\nMatch LocalAddress 192.0.2.1\n  PermitTTY no\n";
      writeFileSync(sshdConfig, `HostKey ${key}\nAuthorizedKeysFile .ssh/a .ssh/b\n${other}`);
      const answer = await createKeyFilePatterns({ sshdConfig }).of("ext_x");
      expect(answer).toEqual({ patterns: [".ssh/a", ".ssh/b"], problem: undefined, isStrange: false });
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);
