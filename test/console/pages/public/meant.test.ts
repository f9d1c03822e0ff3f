import { describe, expect, test } from "bun:test";
import { pagesMeant } from "../../../../src/console/pages/public/meant.ts";
import { isPage } from "../../../../src/shared/product/pages.ts";

describe("pagesMeant", () => {
  test.each([
    ["/Login", "/login"],
    ["/LOGIN/", "/login"],
    ["/login//", "/login"],
    ["/login.", "/login"],
    ["/%6cogin", "/login"],
    ["/login.html", "/login"],
    ["/sign-in", "/login"],
    ["/lgoin", "/login"],
    ["/Admin/Users/10", "/admin/users/10"],
    ["/admin/user/10", "/admin/users/10"],
    ["/users/10", "/admin/users/10"],
    ["/user/10/", "/admin/users/10"],
    ["/hosts/2", "/admin/hosts/2"],
    ["/admin/groups/3", "/admin/host-groups/3"],
    ["/admin/users/x", "/admin/users"],
    ["/admin/users/7/keys", "/me/keys"],
    ["/admin/audit-log", "/admin/audit"],
    ["/admin/approvals", "/admin/applications"],
    ["/administrator", "/admin/admins"],
    ["/keys", "/me/keys"],
    ["/index.html", "/"],
  ])("pagesMeant() for %s begins with %s", (address, page) => {
    expect(pagesMeant(address)[0]).toBe(page);
  });

  test.each(["/wp-login.php", "//", "/%", "/%ff%fe", "/xyzzy", `/${"a".repeat(100_000)}`, "/constructor", "/../.."])(
    "pagesMeant() makes at most three pages of %p",
    (address) => {
      const meant = pagesMeant(address);
      expect(meant.length).toBeLessThanOrEqual(3);
      expect(meant.filter((path) => !isPage(path))).toEqual([]);
    },
  );

  test("pagesMeant() has nothing for what resembles no page", () => {
    expect(["/xyzzy", "/%", "//", "/constructor"].flatMap(pagesMeant)).toEqual([]);
  });
});
