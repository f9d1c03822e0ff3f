import { describe, expect, test } from "bun:test";
import { faultIn } from "../../../src/host/profiles/sshd-answer.ts";
import { settingsOf, shutSettings } from "../../../src/host/profiles/sshd-blocks.ts";
import { parseSshdSettings } from "../../../src/host/sshd/sshd-settings.ts";
import type { HostProfile } from "../../../src/protocol/profile.ts";
import { RECORDED_VERSIONS, sshdSaid } from "../../support/sshd-recordings.ts";

const FORWARD: HostProfile = { name: "db", kind: "forward", targets: ["db:5432"], secondFactor: "verified" };
const SFTP: HostProfile = { name: "drop", kind: "sftp", directory: "/srv/drop", secondFactor: "none" };

/** What that sshd says where the block counts. */
function said(version: (typeof RECORDED_VERSIONS)[number], settings: ReturnType<typeof settingsOf>): string {
  const names = new Set(settings.map(({ name }) => name.toLowerCase()));
  const rest = sshdSaid(version, "installed").split("\n");
  const others = rest.filter((line) => !names.has((line.split(" ")[0] ?? "").toLowerCase()));
  return [...settings.map(({ name, value }) => `${name} ${value}`), ...others].join("\n");
}

describe("faultIn()", () => {
  test.each(RECORDED_VERSIONS)("finds nothing in what sshd %s says of a block that counts", (version) => {
    for (const profile of [FORWARD, SFTP]) {
      const settings = parseSshdSettings(said(version, settingsOf(profile)));
      expect(faultIn(settings, { profile, isShut: false }, "ext_alice")).toBeUndefined();
      expect(faultIn(settings, { profile, isShut: true }, "ext_alice")).toContain(
        "PubkeyAuthentication yes instead of no",
      );
    }
    const shut = parseSshdSettings(said(version, shutSettings()));
    expect(faultIn(shut, { profile: SFTP, isShut: true }, "ext_alice")).toBeUndefined();
  });

  test("finds each setting that another block gave, and what a program's environment could come from", () => {
    const profile = FORWARD;
    const all = settingsOf(profile);
    for (const { name, value } of all) {
      const text = said("9.2", all).replace(`${name} ${value}`, `${name} other`);
      const fault = faultIn(parseSshdSettings(text), { profile, isShut: false }, "ext_alice");
      expect(fault).toContain(`sshd gives ext_alice ${name} other instead of ${value}`);
    }
    const text = said("9.2", all).replace("permituserenvironment no", "permituserenvironment yes");
    const fault = faultIn(parseSshdSettings(text), { profile, isShut: false }, "ext_alice");
    expect(fault).toContain("PermitUserEnvironment yes instead of no");
  });

  test("says that nobody can copy files where sshd offers none", () => {
    const text = said("9.2", settingsOf(SFTP)).replace(/^subsystem .*$/m, "");
    const fault = faultIn(parseSshdSettings(text), { profile: SFTP, isShut: false }, "ext_alice");
    expect(fault).toContain("sshd offers no sftp");
  });
});
