import { describe, expect, test } from "bun:test";
import { accountsIn } from "../../src/host/account.ts";
import { leftAccounts, whatStays } from "../../src/install/what-stays.ts";

const NOW = new Date("2026-11-27T12:00:00Z");
const TODAY = Math.floor(NOW.getTime() / 86_400_000);
const GROUP = "uam-ext:x:990:ext_ann,ext_bob,ext_carl\n";

function left(expires: Readonly<Record<string, number | "">>) {
  const shadow = Object.entries(expires).map(([name, day]) => `${name}:*:20000:::::${day}:\n`);
  return leftAccounts(NOW, accountsIn({ passwd: "", group: GROUP, shadow: shadow.join("") }));
}

describe("leftAccounts()", () => {
  test("an account is open until the day of its expiry", () => {
    const { all, open } = left({ ext_ann: TODAY + 1, ext_bob: TODAY, ext_carl: "" });
    expect(all).toEqual(["ext_ann", "ext_bob", "ext_carl"]);
    expect(open).toEqual(["ext_ann", "ext_carl"]);
  });

  test("without /etc/shadow nobody knows", () => {
    expect(leftAccounts(NOW, accountsIn({ passwd: "", group: GROUP, shadow: undefined })).open).toBeUndefined();
  });
});

describe("whatStays()", () => {
  test("says who can still log in, for how long, and how to shut them: before by uam, afterwards without it", () => {
    const some = left({ ext_ann: TODAY + 1, ext_bob: 1, ext_carl: 1 });
    const before = whatStays(some, "before");
    expect(before).toStartWith("Nothing was changed. 3 accounts of external users stay; 1 can still log in: ext_ann\n");
    expect(before).toContain("sshd refuses them from their end on; nothing shuts them before");
    expect(before).toContain("uam user disable --status active\n");
    const after = whatStays(some, "after");
    expect(after).toStartWith("Uninstalled. 3 accounts");
    expect(after).toContain("usermod --expiredate 1 NAME");
    for (const text of [before, after]) expect(text).toContain("/etc/ssh/sshd_config.d/50-uam.conf stays with them");
  });

  test("frightens nobody where all are shut, or there are none", () => {
    const shut = whatStays(left({ ext_ann: 1, ext_bob: 1, ext_carl: 1 }), "after");
    expect(shut).toContain("all of them shut: ext_ann, ext_bob, ext_carl\n");
    expect(shut).not.toContain("log in");
    expect(whatStays({ all: [], open: [] }, "after")).toContain("There are no accounts of external users.\n");
  });
});
