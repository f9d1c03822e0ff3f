import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createDryRunExecutor } from "../../../src/host/execute/dry-run.ts";
import { createManagedHost } from "../../../src/host/managed-host.ts";
import { acceptsType, refusalOf } from "../../../src/host/sshd/accepted-keys.ts";
import { createKeyFilePatterns } from "../../../src/host/sshd/sshd.ts";
import { parseSshdSettings } from "../../../src/host/sshd/sshd-settings.ts";
import { KEY_TYPES, NEWER_KEY_TYPES } from "../../../src/shared/product/ssh-key-types.ts";
import { recordingLog, testAccount, testSettings } from "../../support/host-account.ts";
import { RECORDED_VERSIONS, sshdSaid } from "../../support/sshd-recordings.ts";
import { needs } from "../../support/tools.ts";

const MLDSA = "ssh-mldsa44-ed25519";
const [, BASE64 = ""] = readFileSync(
  new URL("../../testdata/keys-10.6/mldsa44-ed25519-1.pub", import.meta.url),
  "utf8",
).split(" ");
const KEY = { id: 7, type: MLDSA, base64: BASE64, fingerprint: "SHA256:D/n2TbrIsC3osndqLfG7WZglsrL3PyRe5bhsr7S2T2U" };

describe.if(needs("sshd"))("acceptsType()", () => {
  for (const version of RECORDED_VERSIONS) {
    test(`OpenSSH ${version} takes what the service accepts, and ML-DSA from 10.6 on`, () => {
      const settings = parseSshdSettings(sshdSaid(version, "installed"));
      const refused = KEY_TYPES.filter((type) => acceptsType(settings, type) !== true);
      expect(refused).toEqual(version === "10.6" ? [] : [...NEWER_KEY_TYPES]);
    });
  }

  test("knows nothing of an sshd that does not say what it takes, and reads the setting's older name", () => {
    expect(acceptsType(parseSshdSettings("port 22"), "ssh-rsa")).toBeUndefined();
    expect(acceptsType(parseSshdSettings("pubkeyacceptedkeytypes ssh-rsa,ssh-ed25519"), "ssh-rsa")).toBe(true);
    expect(acceptsType(parseSshdSettings("pubkeyacceptedkeytypes ssh-ed25519"), "ssh-rsa")).toBe(false);
  });
});

describe.if(needs("sshd"))("refusalOf()", () => {
  const settings = parseSshdSettings("PubkeyAcceptedAlgorithms ssh-ed25519,rsa-sha2-512\nRequiredRSASize 3072");
  test.each([
    ["ssh-ed25519", 256, undefined],
    ["ssh-rsa", 3072, undefined],
    ["ssh-rsa", 2048, "its sshd requires RSA keys of at least 3072 bits, this one has 2048"],
    ["ecdsa-sha2-nistp256", 256, "its sshd does not accept keys of the type ecdsa-sha2-nistp256"],
  ])("of %s with %d bits is %j", (type, bits, clause) => expect(refusalOf(settings, { type, bits })).toBe(clause));
});

/** A host with that sshd, on which every account is as it should be; what would be written is in the log. */
function hostWith(version: (typeof RECORDED_VERSIONS)[number]) {
  const settings = testSettings({ mode: "direct" });
  const { log, lines } = recordingLog();
  const patterns = createKeyFilePatterns(undefined, async () => ({
    exitCode: 0,
    stdout: sshdSaid(version, "default"),
    stderr: "",
  }));
  const executor = createDryRunExecutor(settings, log);
  const host = createManagedHost({
    settings,
    executor,
    expiry: { kind: "utc" },
    log,
    patterns,
    hostKeys: async () => [],
  });
  const written = () => JSON.stringify(lines.map(({ fields }) => fields?.content ?? ""));
  return { host, written };
}

describe.if(needs("sshd"))("a key of ML-DSA that is stored", () => {
  const account = testAccount();
  const both = { ...account, keys: [...account.keys, KEY] };

  test("is in the file where sshd takes it", async () => {
    const { host, written } = hostWith("10.6");
    await host.writeKeys(both);
    expect(written()).toContain(`${MLDSA} ${BASE64}`);
    expect(await host.reconcile([both], true)).toEqual([]);
    expect(await host.keyRefusal({ type: MLDSA, bits: 512 })).toBeUndefined();
  });

  test("is in no file that sshd could not read, and that is said; the other keys are", async () => {
    const { host, written } = hostWith("10.0");
    await host.writeKeys(both);
    expect(written()).toContain(account.keys[0]?.base64 ?? "no key");
    expect(written()).not.toContain(MLDSA);
    expect(await host.reconcile([both], true)).toEqual([
      {
        account: account.name,
        kind: "key_refused",
        problem: `this host's sshd does not accept keys of the type ${MLDSA}: ${KEY.fingerprint} opens nothing here`,
        repaired: false,
      },
    ]);
    expect(await host.keyRefusal({ type: MLDSA, bits: 512 })).toBe(
      `its sshd does not accept keys of the type ${MLDSA}`,
    );
  });
});
