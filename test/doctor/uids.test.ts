import { describe, expect, test } from "bun:test";
import { checkGivenUids, sharedUids } from "../../src/doctor/uids.ts";
import { readAccounts } from "../../src/host/account.ts";
import { reservedIds } from "../../src/host/reserved-ids.ts";

const reserved = reservedIds({ loginDefs: "", subuid: "", subgid: "" });
const nothing = async () => ({ found: [], unseen: [] });
const gone = (uid: number) => ({ uid, isStored: false });

describe("checkGivenUids()", () => {
  test("finds nothing where no account is gone, and looks for no programs then", async () => {
    const look = async () => {
      throw new Error("looked");
    };
    expect(await checkGivenUids([{ uid: 65_600, isStored: true }], "/home", look)).toEqual([]);
  });

  test("names whoever has the uid of an account that is gone", async () => {
    const [person] = [...readAccounts().passwd.values()];
    if (person === undefined) throw new Error("this machine has no accounts");
    const findings = await checkGivenUids([gone(person.uid), gone(98_765)], "/home", nothing);
    const faults = findings.filter(({ state }) => state === "fault").map(({ finding }) => finding);
    expect(faults).toEqual([
      `${person.name} has the uid ${person.uid} of an account that is gone, and with it the files and set-uid programs that it left`,
    ]);
  });

  test("names programs that such accounts left, and what was not looked at", async () => {
    const asked: boolean[] = [];
    const findings = await checkGivenUids([gone(98_765), { uid: 98_766, isStored: true }], "/home", async (isGone) => {
      asked.push(isGone(98_765), isGone(98_766), isGone(1000));
      return { found: [{ path: "/var/tmp/x", uid: 98_765 }], unseen: ["more of the kind"] };
    });
    expect(asked).toEqual([true, false, false]);
    expect(findings.map(({ state, finding }) => [state, finding])).toEqual([
      ["fault", "/var/tmp/x gives whoever starts it the rights of uid 98765, whose account is gone"],
      ["skipped", "Programs that accounts left were not looked for everywhere: more of the kind"],
    ]);
  });
});

describe("sharedUids()", () => {
  test("notes uids of before that useradd gives to others, and how to keep them from that", () => {
    const given = [gone(20_003), { uid: 20_010, isStored: true }, gone(65_600)];
    const [note] = sharedUids(given, reserved);
    expect(note).toMatchObject({
      state: "note",
      finding: expect.stringContaining("2 uids of accounts from before (20003-20010)"),
    });
    expect(note?.remedy).toContain("set UID_MAX and GID_MAX to 20002 in /etc/login.defs");
    expect(note?.remedy).toContain("useradd -M -N -u 20011");
    expect(sharedUids([gone(65_600)], reserved)).toEqual([]);
    const below = reservedIds({ loginDefs: "UID_MAX 20002\nGID_MAX 20002\n", subuid: "", subgid: "" });
    expect(sharedUids(given, below)).toEqual([]);
  });
});
