import { describe, expect, test } from "bun:test";
import { describeRefusal, isRefusal, judgeSudo, mayRunAsMembers } from "../../../src/host/execute/sudo-program.ts";
import { recordingsOf } from "../../support/recordings.ts";

const RECORDED = Object.entries(recordingsOf("sudo"));

/** What `sudo -V` prints: Debian 12, 13 and forky; sudo-rs of Debian 13 and forky (on standard error); Debian 11. */
const SAID = {
  debian12: "Sudo version 1.9.13p3\nSudoers policy plugin version 1.9.13p3\n",
  debian13: "sudo: unable to resolve host vm: Name or service not known\nSudo version 1.9.16p2\n",
  forky: "Sudo version 1.9.17p2\nSudoers policy plugin version 1.9.17p2\n",
  rust13: "\nsudo-rs 0.2.5\n",
  rustForky: "\nsudo-rs 0.2.15\n",
  debian11: "Sudo version 1.9.5p2\nSudoers policy plugin version 1.9.5p2\n",
} as const;

describe("judgeSudo", () => {
  test.each(["debian12", "debian13", "forky"] as const)("judgeSudo() finds nothing wrong with %s", (system) => {
    expect(judgeSudo(SAID[system], false)).toBeUndefined();
  });

  test.each(["rust13", "rustForky"] as const)("judgeSudo() recognises sudo-rs (%s), and says what to do", (system) => {
    const fault = judgeSudo(SAID[system], false);
    expect(fault?.finding).toMatch(/this host's sudo is sudo-rs 0\.2\.\d+, which has no patterns for arguments/);
    expect(fault?.remedy).toContain("uam install --mode direct");
    expect(judgeSudo(SAID[system], true)?.remedy).toStartWith("update-alternatives --set sudo /usr/bin/sudo.ws");
  });

  test("judgeSudo() refuses versions without expressions in arguments, by number and not by text", () => {
    expect(judgeSudo(SAID.debian11, false)?.finding).toContain("needs sudo 1.9.10 or later; this host has 1.9.5");
    expect(judgeSudo("Sudo version 1.9.9", false)).toBeDefined();
    expect(judgeSudo("Sudo version 1.10", false)).toBeUndefined();
    expect(judgeSudo("Sudo version 2.0.0", false)).toBeUndefined();
  });

  test("judgeSudo() says so when it does not understand, and quotes little of it", () => {
    expect(judgeSudo("", false)?.finding).toEndWith('is not understood: ""');
    const fault = judgeSudo(`doas 7 \u001b[31m${"x".repeat(1000)}`, false);
    expect(fault?.finding).toContain('is not understood: "doas 7 \\u001b[31m');
    expect(fault?.finding.length).toBeLessThan(400);
  });
});

describe("describeRefusal", () => {
  test("describeRefusal() names sudo-rs that has come in the other's place, whose remedy is no rule", () => {
    const argv = ["/usr/sbin/usermod", "--lock"];
    expect(describeRefusal(argv, { remedy: "write the rules" })).toBe(
      'sudo refuses to run "/usr/sbin/usermod --lock": write the rules',
    );
    const sentence = describeRefusal(argv, judgeSudo(SAID.rustForky, true) ?? { remedy: "" });
    expect(sentence).toMatch(/^sudo refuses to run .* \(.* sudo is sudo-rs 0\.2\.15, .*\): update-alternatives /);
  });
});

describe.each(RECORDED)("what sudo %s was recorded to say", (version, said) => {
  const isOriginal = !version.startsWith("rs-");

  test("judgeSudo() knows it by what it says of its version", () => {
    const { stdout = "", stderr = "" } = said.version ?? {};
    const fault = judgeSudo(`${stdout}\n${stderr}`, false);
    if (isOriginal) expect(fault).toBeUndefined();
    else expect(fault?.finding).toContain(`sudo is sudo-${version.replace("-", " ")},`);
  });

  test("isRefusal() tells a refusal from what a command says", () => {
    for (const name of ["refused", "stranger", "strangerList", "runs", "fails"]) {
      const { [name]: recorded } = said;
      if (recorded !== undefined) expect([name, isRefusal(recorded.stderr)]).toEqual([name, recorded.exitCode === 1]);
    }
  });
});

describe.each(RECORDED.filter(([version]) => !version.startsWith("rs-")))("what sudo %s lists", (_, said) => {
  test("mayRunAsMembers() finds the rule for the accounts, and none for another group", () => {
    const { stdout = "" } = said.list ?? {};
    expect([mayRunAsMembers(stdout, "uam-ext"), mayRunAsMembers(stdout, "uam")]).toEqual([true, false]);
  });
});
