import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { commandsFor } from "../../src/host/execute/sudo-rules.ts";
import { renderSudoers, type SudoersOptions } from "../../src/install/sudoers.ts";
import { OLD_UIDS } from "../../src/shared/system/uids.ts";
import { DAY } from "../../src/shared/time/clock.ts";
import { testAccount } from "../support/host-account.ts";

function options(overrides: Partial<SudoersOptions> = {}): SudoersOptions {
  return {
    user: "uam",
    homeBase: "/home",
    shell: "/bin/bash",
    groups: [],
    markerGroup: "uam-ext",
    authorizedKeysFile: "%h/.ssh/authorized_keys",
    uidRange: { first: 65_600, last: 99_999 },
    program: ["/usr/bin/uam"],
    ...overrides,
  };
}

const CONFIGURATIONS: readonly (readonly [string, Partial<SudoersOptions>])[] = [
  ["the defaults", {}],
  ["another user", { user: "uam-t" }],
  ["a user that begins with an underscore", { user: "_uam" }],
  ["another home base", { homeBase: "/srv/home.d/ext-users" }],
  ["another shell", { shell: "/usr/bin/rbash" }],
  ["extra groups", { groups: ["ssh-users", "data_readers"] }],
  ["another marker group", { markerGroup: "external" }],
  ["uids of an older version besides", { oldUids: OLD_UIDS }],
  ["a range of one uid", { uidRange: { first: 30_000, last: 30_000 } }],
  ["an uneven range", { uidRange: { first: 1_001, last: 59_998 } }],
  ["a file deeper in the home", { authorizedKeysFile: "%h/.config/ssh/keys/%u" }],
  ["a file with the uid in its name", { authorizedKeysFile: "%h/.ssh/keys.%U" }],
  ["a file at the top of the home", { authorizedKeysFile: "%h/keys" }],
  ["a relative path", { authorizedKeysFile: ".ssh/authorized_keys" }],
];

/** The rules as JavaScript expressions; sudoers' own escapes are undone first. */
function patterns(text: string): readonly { readonly path: string; readonly expression: RegExp }[] {
  return [...text.matchAll(/^ {4}(\/\S+) (\^.*?\$)(?:, \\)?$/gm)].map(([, path = "", expression = ""]) => ({
    path,
    expression: new RegExp(expression.replace(/\\([,:=])/g, "$1")),
  }));
}

describe("renderSudoers", () => {
  // Not everybody's PATH includes Debian's sbin.
  const visudo = ["/usr/sbin/visudo", "/usr/bin/visudo"].find((path) => existsSync(path));
  test.if(visudo !== undefined).each(CONFIGURATIONS)(
    "renderSudoers() is accepted by visudo with %s",
    (_, overrides) => {
      const checked = spawnSync(visudo ?? "", ["-c", "-s", "-f", "-"], {
        input: renderSudoers(options(overrides)),
        encoding: "utf8",
      });
      expect(checked).toMatchObject({ status: 0, stderr: "" });
    },
  );

  test.each(CONFIGURATIONS)("renderSudoers() allows every command that the executor runs with %s", (_, overrides) => {
    const given = options(overrides);
    const rules = patterns(renderSudoers(given));
    for (const name of ["ext_a", "ext_a-b_c9", `ext_${"x".repeat(28)}`]) {
      const account = testAccount({ name, uid: given.uidRange.last, expireAt: new Date(20_000 * DAY) });
      const names = `${name} ext_b`;
      const place = Buffer.from("s=0123456789abcdef;i=1;b=2;m=3;t=4;x=5").toString("hex");
      const example = { account, mark: "0123456789abcdef", below: "mnt/it", names, session: "10000001", place };
      const commands = commandsFor(given, example, given);
      expect(commands.length).toBeGreaterThan(20);
      for (const { argv } of commands) {
        const [path, ...args] = argv;
        const fits = rules.some((rule) => rule.path === path && rule.expression.test(args.join(" ")));
        expect([argv.join(" "), fits]).toEqual([argv.join(" "), true]);
      }
    }
  });

  test("renderSudoers() allows uids of the range, and those of an older version only where there are such accounts", () => {
    const allowed = (given: SudoersOptions, uid: number) =>
      patterns(renderSudoers(given)).some(({ expression }) => expression.test(`sweep ${uid}`));
    const uids = [999, 1000, 19_999, 20_000, 59_999, 60_000, 65_599, 65_600, 99_999, 100_000];
    expect(uids.filter((uid) => allowed(options(), uid))).toEqual([65_600, 99_999]);
    const both = options({ oldUids: OLD_UIDS });
    expect(uids.filter((uid) => allowed(both, uid))).toEqual([20_000, 59_999, 65_600, 99_999]);
  });

  test("renderSudoers() has no wildcard, no ALL command and every rule anchored at both ends", () => {
    const text = renderSudoers(options());
    const commands = text.split("\n").filter((line) => line.startsWith("    "));
    expect(commands.length).toBe(patterns(text).length);
    for (const line of commands) expect(line).toMatch(/^ {4}\/[a-z0-9/]+ \^[^\n]*\$(, \\)?$/);
    expect(text).not.toMatch(/NOPASSWD: ALL|SETENV|BUN_/);
    // With a group in the list, "sudo -g root" would run commands as the service itself in that group.
    expect(text).not.toMatch(/\([^)]*:/);
    expect(text).toContain('runcwd="/"');
  });

  test.each([
    ["a key file outside the homes", { authorizedKeysFile: "/etc/ssh/keys/%u" }, "UAM_AUTHORIZED_KEYS_FILE"],
    ["a key file with a blank", { authorizedKeysFile: "%h/.ssh/my keys" }, "UAM_AUTHORIZED_KEYS_FILE"],
    ["a home base with a comma", { homeBase: "/home,x" }, "UAM_HOME_BASE"],
    ["a home base with a line break", { homeBase: "/home\nroot ALL=(ALL) ALL" }, "UAM_HOME_BASE"],
    ["the root directory as home base", { homeBase: "/" }, "UAM_HOME_BASE"],
    ["a shell with an expression", { shell: "/bin/.*" }, "UAM_SHELL"],
    ["a user that is none", { user: "ALL" }, "system user"],
    ["a user with a line break", { user: "uam\nx" }, "system user"],
    ["a group with a blank", { markerGroup: "a b" }, "UAM_GROUPS"],
    ["system uids", { uidRange: { first: 0, last: 59_999 } }, "range of uids"],
    ["a range that is none", { uidRange: { first: 3000, last: 2000 } }, "range of uids"],
  ])("renderSudoers() refuses %s", (_, overrides, words) => {
    expect(() => renderSudoers(options(overrides))).toThrow(words);
  });
});
