import { describe, expect, test } from "bun:test";
import { requireLabels, type SelinuxHost } from "../../src/install/selinux.ts";

const OURS = "/var/lib/uam/keys/%u/authorized_keys";
const IN_HOMES = ".ssh/authorized_keys";

/** A host on which only that directory is there, with that label. */
function host(enforces: boolean, directory = "", label = ""): SelinuxHost {
  return { enforces: () => enforces, labelOf: (path) => (path === directory ? label : undefined) };
}

describe("requireLabels()", () => {
  test("refuses nothing where SELinux is off or only says what it would refuse", () => {
    expect(() => requireLabels(OURS, host(false))).not.toThrow();
    expect(() => requireLabels(IN_HOMES, host(false))).not.toThrow();
  });

  test("lets key files be where sshd may read them", () => {
    const label = "system_u:object_r:ssh_home_t:s0";
    expect(() => requireLabels(OURS, host(true, "/var/lib/uam/keys", label))).not.toThrow();
    expect(() => requireLabels("/srv/keys-%u", host(true, "/srv", label))).not.toThrow();
  });

  test("refuses a directory that is not there, or has another type, with the commands", () => {
    const commands =
      "mkdir -p /var/lib/uam/keys && semanage fcontext -a -t ssh_home_t '/var/lib/uam/keys(/.*)?' && restorecon -R -F /var/lib/uam/keys";
    expect(() => requireLabels(OURS, host(true))).toThrow(`does not exist: first run ${commands}`);
    const label = "unconfined_u:object_r:var_lib_t:s0";
    expect(() => requireLabels(OURS, host(true, "/var/lib/uam/keys", label))).toThrow(
      `has the type var_lib_t: first run ${commands}`,
    );
    expect(() => requireLabels(OURS, host(true, "/var/lib/uam/keys", "?"))).toThrow("does not exist: first run");
  });

  test("refuses key files in homes, whose labels uam does not choose", () => {
    const label = "system_u:object_r:ssh_home_t:s0";
    expect(() => requireLabels(IN_HOMES, host(true, ".ssh", label))).toThrow("install in direct mode");
  });
});
