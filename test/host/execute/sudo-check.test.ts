import { describe, expect, test } from "bun:test";
import { checkSudo, strayKeyFiles } from "../../../src/host/execute/sudo-check.ts";
import { parseViews, viewsOf } from "../../../src/host/execute/sudo-key-file.ts";
import { keyFileOf } from "../../../src/host/key-file/key-path.ts";
import { testSettings } from "../../support/host-account.ts";
import { recordingsOf } from "../../support/recordings.ts";

describe("strayKeyFiles", () => {
  test.each([
    [[".ssh/authorized_keys"], []],
    [[".ssh/authorized_keys", ".ssh/authorized_keys2"], []],
    [["%h/.ssh/authorized_keys", "none", "/etc/ssh/keys/%u"], []],
    [[".ssh/authorized_keys", ".ssh/more_keys"], ["/home/ext_example/.ssh/more_keys"]],
    [["%h/keys/%u"], ["/home/ext_example/keys/ext_example"]],
  ])("strayKeyFiles() finds in %j what has no rule: %j", (patterns, expected) => {
    expect(strayKeyFiles(testSettings(), patterns)).toEqual(expected);
  });

  test("strayKeyFiles() counts authorized_keys2 if it is not the usual second file", () => {
    const layout = testSettings({ authorizedKeysFile: "%h/keys" });
    expect(strayKeyFiles(layout, ["%h/keys", ".ssh/authorized_keys2"])).toEqual([
      "/home/ext_example/.ssh/authorized_keys2",
    ]);
  });
});

describe("checkSudo", () => {
  test("checkSudo() names a setting that sudo mode does not support", async () => {
    const faults = await checkSudo(testSettings({ mode: "sudo", authorizedKeysFile: "/etc/ssh/keys/%u" }), [
      "/usr/bin/uam",
    ]);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain("UAM_AUTHORIZED_KEYS_FILE");
  });
});

describe("parseViews", () => {
  test("parseViews() reads type, mode, owner, group and size of each path, and drops other lines", () => {
    const views = parseViews(
      "41c0/1000/1001/4096/home/ext_a/.ssh\nstat: odd\n8180/1000/1001/7/home/ext_a/.ssh/authorized_keys\n",
    );
    expect([...views]).toEqual([
      ["/home/ext_a/.ssh", { mode: 0o40700, uid: 1000, gid: 1001, size: 4096 }],
      ["/home/ext_a/.ssh/authorized_keys", { mode: 0o100600, uid: 1000, gid: 1001, size: 7 }],
    ]);
  });
});

describe.each(Object.entries(recordingsOf("coreutils")))("what stat %s was recorded to say", (_, said) => {
  const owner = { name: "ext_a", uid: 1000, gid: 1001, home: "/home/ext_a" };
  const file = keyFileOf("%h/.ssh/authorized_keys", owner);
  const seen = (name: string) => [...viewsOf(file, said[name] ?? unrecorded()).keys()];

  test("viewsOf() knows what is there and what is not", () => {
    const [directory, path] = ["/home/ext_a/.ssh", "/home/ext_a/.ssh/authorized_keys"];
    for (const [name, paths] of [
      ["all", [directory, path]],
      ["link", [directory, path]],
      ["missing", [directory]],
      ["notADirectory", [directory]],
      ["loop", [directory]],
      ["nothing", []],
      ["closed", []],
    ] as const)
      expect([name, seen(name)]).toEqual([name, [...paths]]);
  });

  test("viewsOf() takes no other failure for an absence", () => {
    const { exitCode, stdout, stderr } = said.missing ?? unrecorded();
    const io = stderr.replace("No such file or directory", "Input/output error");
    expect(() => viewsOf(file, { exitCode, stdout, stderr: io })).toThrow();
    expect(() => viewsOf(file, { exitCode: 126, stdout, stderr })).toThrow();
  });
});

function unrecorded(): never {
  throw new Error("there is no such recording");
}
