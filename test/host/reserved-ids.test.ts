import { describe, expect, test } from "bun:test";
import { rangeFault, readReservedIds, reservedIds } from "../../src/host/reserved-ids.ts";

const NOTHING = { loginDefs: "", subuid: "", subgid: "" };
const DEFAULT = { first: 65_600, last: 99_999 };

describe("rangeFault()", () => {
  test("takes the default range on a host that changed nothing, and on this one", () => {
    expect(rangeFault(DEFAULT, reservedIds(NOTHING))).toBeUndefined();
    expect(rangeFault(DEFAULT, readReservedIds())).toBeUndefined();
  });

  test("refuses the default of before, naming who gets its numbers and what is free", () => {
    const fault = rangeFault({ first: 20_000, last: 59_999 }, reservedIds(NOTHING));
    expect(fault).toContain("UID_MIN to UID_MAX of login.defs (1000-60000)");
    expect(fault).toContain("free on this host is 65600-99999");
  });

  test.each([
    ["people", "UID_MAX\t70000\n", { first: 65_600, last: 66_000 }, "UID_MIN to UID_MAX"],
    ["groups", "GID_MAX 70000", { first: 65_600, last: 66_000 }, "GID_MIN to GID_MAX"],
    ["a hexadecimal number", "UID_MAX 0x11170", { first: 65_600, last: 66_000 }, "UID_MIN to UID_MAX (1000-70000)"],
    ["system accounts", "UID_MIN 90000\nUID_MAX 95000", { first: 65_600, last: 66_000 }, "SYS_UID_MIN to SYS_UID_MAX"],
    ["subordinate ids", "SUB_UID_MIN 70000", DEFAULT, "SUB_UID_MIN to SUB_UID_MAX of login.defs (70000-600100000)"],
    ["systemd's dynamic users", "", { first: 60_800, last: 62_000 }, "systemd's dynamic users (61184-65519)"],
    ["nobody", "", { first: 65_520, last: 66_000 }, "nobody (65534-65535)"],
    ["systemd's containers", "SUB_UID_MAX 200000\nSUB_GID_MAX 200000", { first: 300_000, last: 600_000 }, "containers"],
  ])("refuses numbers of %s", (_, loginDefs, range, what) => {
    const fault = rangeFault(range, reservedIds({ ...NOTHING, loginDefs }));
    expect(fault).toContain(what.replace(/ \(1000-70000\)/, " of login.defs (1000-70000)"));
  });

  test("a comment in login.defs sets nothing, and the last of several lines counts", () => {
    expect(rangeFault(DEFAULT, reservedIds({ ...NOTHING, loginDefs: "# UID_MAX 70000\n#UID_MAX 70000\n" }))).toBe(
      undefined,
    );
    const twice = "UID_MAX 70000\nUID_MAX 60000\n";
    expect(rangeFault(DEFAULT, reservedIds({ ...NOTHING, loginDefs: twice }))).toBeUndefined();
  });

  test("refuses what /etc/subuid and /etc/subgid gave to somebody, wherever login.defs puts that", () => {
    for (const file of ["subuid", "subgid"]) {
      const fault = rangeFault(DEFAULT, reservedIds({ ...NOTHING, [file]: "olga:90000:65536\n# none\nbad\n" }));
      expect(fault).toContain(`/etc/${file} of olga (90000-155535)`);
      expect(fault).toContain("free on this host is 65600-89999");
    }
  });

  test("names a free range beyond what login.defs gives, if there is one", () => {
    const loginDefs = "UID_MAX 200000\nGID_MAX 200000\nSUB_UID_MIN 300000\nSUB_GID_MIN 300000\n";
    const fault = rangeFault(DEFAULT, reservedIds({ ...NOTHING, loginDefs }));
    expect(fault).toContain("free on this host is 200001-234400");
  });
});
