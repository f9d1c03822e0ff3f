import { describe, expect, test } from "bun:test";
import { reservedIds } from "../../src/host/reserved-ids.ts";
import { checkRange } from "../../src/install/uids.ts";
import { OLD_UIDS } from "../../src/shared/system/uids.ts";

const reserved = reservedIds({ loginDefs: "", subuid: "", subgid: "" });

describe("checkRange()", () => {
  test("refuses a first installation with uids that useradd gives to others", () => {
    expect(() => checkRange(OLD_UIDS, { isFirst: true, reserved })).toThrow(
      /UID_MIN to UID_MAX of login.defs.*free on this host is 65600-99999/,
    );
    expect(checkRange({ first: 65_600, last: 99_999 }, { isFirst: true, reserved })).toBeUndefined();
  });

  test("lets an installation of before go on with its range, and says what follows", () => {
    const said = checkRange(OLD_UIDS, { isFirst: false, reserved });
    expect(said).toContain("Whoever gets the uid of a deleted account has its files and programs");
    expect(said).toContain("accounts keep the uids they have, and new ones get others");
  });
});
