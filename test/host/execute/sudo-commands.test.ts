import { describe, expect, test } from "bun:test";
import { requireSudoLayout } from "../../../src/host/execute/sudo-commands.ts";
import type { HostSettings } from "../../../src/host/settings.ts";
import { testSettings } from "../../support/host-account.ts";

const check = (layout: Partial<HostSettings>) => requireSudoLayout(testSettings(layout));

describe("requireSudoLayout()", () => {
  test.each<Partial<HostSettings>>([
    {},
    { homeBase: "/srv/outside.d/home-s_1" },
    { authorizedKeysFile: "%h/keys/%u.%U" },
    { authorizedKeysFile: ".ssh/authorized_keys" },
    { shell: "/usr/local/bin/rbash" },
  ])("takes %j", (layout) => {
    expect(() => check(layout)).not.toThrow();
  });

  // Each of them means something to sudoers, or would make a rule for all of the machine.
  test.each([
    "/",
    "//",
    "/./",
    "/.",
    "/home/..",
    "/home/../srv",
    "/home/",
    "/home//x",
    "home",
    "/home/*",
    "/home/[a-z]",
    "/ho me",
    "/home,ALL",
    "/home:/root",
    "/home\n",
    "/home/\\",
    "/hömes",
    "",
  ])("refuses the homes in %j", (homeBase) => {
    expect(() => check({ homeBase })).toThrow("UAM_HOST_MODE=sudo needs a plainer UAM_HOME_BASE");
  });

  test.each(["%h/.ssh/*", "%h/.ssh/a b", "%h/.ssh/a,b", "%h/%h/keys", "%h/%%u", "%h/"])(
    "refuses the key file %j",
    (authorizedKeysFile) => {
      expect(() => check({ authorizedKeysFile })).toThrow("needs a plainer UAM_AUTHORIZED_KEYS_FILE");
    },
  );

  test("refuses a key file outside the home", () => {
    expect(() => check({ authorizedKeysFile: "/etc/ssh/keys/%u" })).toThrow(
      "needs UAM_AUTHORIZED_KEYS_FILE in the home",
    );
  });

  test.each(["/bin/ba sh", "/bin/*", "/bin/bash,ALL", ""])("refuses the shell %j", (shell) => {
    expect(() => check({ shell })).toThrow("needs a plainer UAM_SHELL");
  });
});
