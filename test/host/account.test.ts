import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type AccountTexts, accountsIn, isHalfCreated, presenceIn } from "../../src/host/account.ts";

const GROUP = "uam-ext";
const name = fc.constantFrom("ext_a", "ext_b", "ext_ab", "root", "#ext_a", "+ext_a", "");
const uid = fc.constantFrom("20000", "20001", "020000", "0", "x", "");
const lines = (line: fc.Arbitrary<readonly string[]>) =>
  fc
    .array(
      line.map((fields) => fields.join(":")),
      { maxLength: 8 },
    )
    .map((all) => all.join("\n"));
const texts: fc.Arbitrary<AccountTexts> = fc.record({
  // Each name once: of a second line with it the table of all says nothing, that of one counts its uid as taken, as getpwuid(3) does.
  passwd: fc
    .uniqueArray(fc.tuple(name, fc.constant("x"), uid, uid, fc.constant(""), fc.constantFrom("/home/ext_a", "/")), {
      selector: ([first]) => first,
    })
    .map((all) => all.map((fields) => fields.join(":")).join("\n")),
  group: lines(
    fc.tuple(
      fc.constantFrom(GROUP, "ext_a", "users"),
      fc.constant("x"),
      uid,
      fc.constantFrom("", "ext_a", "ext_ab,ext_a", "ext_b"),
    ),
  ),
  shadow: fc.option(
    lines(fc.tuple(name, fc.constantFrom("*", "!"), fc.constant("1"), fc.constantFrom("", "9"), fc.constant(""))),
    { nil: undefined },
  ),
});

describe("accountsIn", () => {
  test("accountsIn() of one account says of it what the table of all says", () => {
    fc.assert(
      fc.property(texts, fc.constantFrom("ext_a", "ext_b"), fc.constantFrom(20_000, 20_001), (all, name, uid) => {
        const account = { name, uid };
        const say = (table: ReturnType<typeof accountsIn>) => [
          presenceIn(table, account),
          isHalfCreated(table, account, "/home/ext_a"),
          table.passwd.get(name),
          table.shadow?.get(name),
          table.shadow === undefined,
        ];
        expect(say(accountsIn(all, account))).toEqual(say(accountsIn(all)));
      }),
      { numRuns: 2_000 },
    );
  });

  test("accountsIn() reads files without a last line end, with empty lines and with comments", () => {
    const passwd =
      "root:x:0:0:root:/root:/bin/bash\n\n#ext_b:x:1:1::/:\n+::::::\next_a:x:20000:20000::/home/ext_a:/bin/bash";
    const table = accountsIn({ passwd, group: `${GROUP}:x:9:ext_a\n`, shadow: undefined });
    expect([...table.passwd.keys()]).toEqual(["root", "ext_a"]);
    expect(presenceIn(table, { name: "ext_a", uid: 20_000 })).toBe("present");
  });
});
