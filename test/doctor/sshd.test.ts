import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { checkSshd, judgeSshd, penaltyNotes } from "../../src/doctor/sshd.ts";
import { parseSshdSettings } from "../../src/host/sshd/sshd-settings.ts";
import { CENTRAL_KEY_FILE } from "../../src/install/settings.ts";
import { sshdSaid } from "../support/sshd-recordings.ts";

const expected = { authorizedKeysFile: "%h/.ssh/authorized_keys", groups: ["uam-ext", "contractors"] };
const GOOD = [
  "authorizedkeysfile %h/.ssh/authorized_keys",
  "pubkeyauthentication yes",
  "strictmodes yes",
  "permituserrc no",
  "authenticationmethods publickey",
  "trustedusercakeys none",
  "authorizedkeyscommand none",
  "hostkey /etc/ssh/ssh_host_ed25519_key",
];

/** Findings when `lines` replace or extend the settings of a good sshd. */
function judge(...lines: readonly string[]): readonly string[] {
  const names = new Set(lines.map((line) => line.split(" ")[0]));
  const text = [...GOOD.filter((line) => !names.has(line.split(" ")[0])), ...lines].join("\n");
  return judgeSshd(parseSshdSettings(text), expected).map(({ state, finding }) => (state === "ok" ? "ok" : finding));
}

describe("judgeSshd", () => {
  test("judgeSshd() reports an answer that lacks what every sshd says, instead of what that might mean", () => {
    const lines = GOOD.filter((line) => !line.startsWith("strictmodes"));
    const [only, ...others] = judgeSshd(parseSshdSettings(lines.join("\n")), expected);
    expect(only?.finding).toBe("sshd -T does not say what StrictModes is: its answer is not understood");
    expect(others).toEqual([]);
  });

  test("judgeSshd() finds nothing wrong with the drop-in's settings, nor with a path relative to the home", () => {
    expect(judge()).toEqual(["ok"]);
    expect(judge("authorizedkeysfile .ssh/authorized_keys", "authenticationmethods any")).toEqual(["ok"]);
  });

  test("judgeSshd() names one cause where the drop-in is there and sshd does not apply it, and keeps other faults", () => {
    const text = [...GOOD.filter((line) => !/^(authorizedkeysfile|permituserrc)/.test(line)), "permituserrc yes"];
    const lines = [...text, "authorizedkeysfile .ssh/authorized_keys .ssh/authorized_keys2", "allowusers alice"];
    const [cause, other, ...more] = judgeSshd(parseSshdSettings(lines.join("\n")), { ...expected, hasDropIn: true });
    expect(cause?.finding).toMatch(
      /^sshd does not apply \/etc\/ssh\/sshd_config\.d\/50-uam\.conf: .*authorized_keys2.*; .*~\/\.ssh\/rc/,
    );
    expect(cause?.remedy).toStartWith('put "Include /etc/ssh/sshd_config.d/*.conf" first in /etc/ssh/sshd_config');
    expect(other?.finding).toStartWith("AllowUsers");
    expect(more).toEqual([]);
  });

  const faults: readonly (readonly [string, string])[] = [
    ["authorizedkeysfile .ssh/authorized_keys .ssh/authorized_keys2", "also reads keys from %h/.ssh/authorized_keys2"],
    ["authorizedkeysfile /etc/ssh/keys/%u", "does not read %h/.ssh/authorized_keys"],
    ["pubkeyauthentication no", "accepts no keys"],
    ["strictmodes no", "StrictModes is off"],
    ["permituserrc yes", "~/.ssh/rc"],
    ["authenticationmethods publickey,password", "AuthenticationMethods requires more"],
    ["trustedusercakeys /etc/ssh/ca.pub", "TrustedUserCAKeys"],
    ["authorizedkeyscommand /usr/bin/keys", "AuthorizedKeysCommand"],
    ["denyusers ext_*", "DenyUsers shuts"],
    ["allowusers alice", "AllowUsers shuts"],
    ["denygroups uam-*", "DenyGroups shuts"],
    ["allowgroups staff", "AllowGroups shuts"],
  ];
  for (const [line, finding] of faults) {
    test(`judgeSshd() reports "${line}"`, () => {
      expect(judge(line).join("\n")).toContain(finding);
    });
  }

  test("judgeSshd() reads lists as sshd does: several lines, user@host, patterns, exclusions", () => {
    expect(judge("allowusers alice", "allowusers ext_*")).toEqual(["ok"]);
    expect(judge("allowusers ext_*@192.0.2.*")).toEqual(["ok"]);
    expect(judge("allowusers !ext_*", "allowusers *")).toEqual(["AllowUsers shuts ext_ accounts out"]);
    expect(judge("allowgroups staff", "allowgroups contractors")).toEqual(["ok"]);
    expect(judge("denyusers bob", "denygroups staff")).toEqual(["ok"]);
  });
});

describe("penaltyNotes", () => {
  const notes = (text: string) => penaltyNotes(parseSshdSettings(text)).map(({ state, finding }) => [state, finding]);

  test.each(["10.0", "10.3", "10.6"] as const)("penaltyNotes() says what OpenSSH %s does by default", (version) => {
    const [[state, finding] = [], ...others] = notes(sshdSaid(version, "installed"));
    expect(state).toBe("note");
    expect(finding).toContain("refuses everybody behind that address for up to 600 s (PerSourcePenalties)");
    expect(others).toEqual([]);
  });

  test("penaltyNotes() says nothing where sshd does not know it, it is off, or addresses are exempt", () => {
    expect(notes(sshdSaid("9.2", "installed"))).toEqual([]);
    expect(notes("PerSourcePenalties no")).toEqual([]);
    expect(notes("persourcepenalties max:600\npersourcepenaltyexemptlist 192.0.2.0/24")).toEqual([]);
  });
});

test.if(existsSync("/usr/sbin/sshd"))(
  "checkSshd() asks with -G where a socket starts sshd and nobody has connected yet",
  async () => {
    const stderr = "Missing privilege separation directory: /run/sshd\n";
    const run = async (argv: readonly string[]) =>
      !(argv.includes("-T") && argv.includes("-G"))
        ? { exitCode: 255, stdout: "", stderr }
        : { exitCode: 0, stdout: sshdSaid("10.0", "installed"), stderr: "" };
    const found = await checkSshd(
      { ...expected, authorizedKeysFile: CENTRAL_KEY_FILE },
      { isRoot: true, fix: false, run },
    );
    expect(found[0]?.finding).toBe("sshd reads the stored keys of ext_ accounts and no others");
    const silent = async () => ({ exitCode: 255, stdout: "", stderr });
    const [only] = await checkSshd(expected, { isRoot: true, fix: false, run: silent });
    expect(only).toMatchObject({ state: "fault", finding: expect.stringContaining("/run/sshd") });
  },
);
