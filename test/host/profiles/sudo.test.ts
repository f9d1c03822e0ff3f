import { describe, expect, test } from "bun:test";
import { filledIn } from "../../../src/host/profiles/sudo.ts";

describe("sudo templates", () => {
  test("filledIn() makes the rules those of the profile's group", () => {
    const text =
      "# restart\nDefaults:%ACCOUNT% !requiretty\n  %ACCOUNT% ALL=(root) NOPASSWD: /usr/bin/systemctl restart web\n";
    expect(filledIn(text, "restart", "uam-p-web")).toBe(
      "# restart\nDefaults:%uam-p-web !requiretty\n  %uam-p-web ALL=(root) NOPASSWD: /usr/bin/systemctl restart web\n",
    );
    expect(filledIn("%ACCOUNT% ALL=(www) /bin/true", "one", "uam-p-web")).toBe("%uam-p-web ALL=(www) /bin/true\n");
  });

  test("filledIn() refuses a template that says more of the account than whose rule it is, or nothing of it", () => {
    for (const [text, why] of [
      ["", "does not exist"],
      ["alice ALL=(ALL) ALL\n", "no line that begins with %ACCOUNT%"],
      ["%ACCOUNT% ALL=(%ACCOUNT%) ALL\n", "elsewhere than at the beginning"],
      ["%ACCOUNT% ALL=(root) /bin/cat /srv/%ACCOUNT%/log\n", "elsewhere than at the beginning"],
      ["@include /tmp/x\n%ACCOUNT% ALL=(ALL) ALL\n", "includes a file"],
      ["#includedir /tmp\n%ACCOUNT% ALL=(ALL) ALL\n", "includes a file"],
    ] as const)
      expect(() => filledIn(text, "one", "uam-p-web")).toThrow(why);
  });
});
