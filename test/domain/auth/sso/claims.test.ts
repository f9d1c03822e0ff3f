import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { claimAt, emailOf, nameOf, roleOf } from "../../../../src/domain/auth/sso/claims.ts";
import { parseRoleRule } from "../../../../src/shared/product/role-rules.ts";
import { ADMIN_NAME } from "../../../../src/shared/text/person.ts";

const rules = (...texts: readonly string[]) => texts.map(parseRoleRule);

describe("roleOf()", () => {
  const all = rules("groups:o=owner", "groups:p=operator", "roles:r=reviewer", "groups:a=auditor");

  test.each([
    [{ groups: "o" }, "owner"],
    [{ groups: ["a", "p"] }, "operator"],
    [{ groups: ["a"], roles: ["r"] }, "reviewer"],
    [{ groups: ["a", "a", 7, null] }, "auditor"],
    [{ groups: ["O"] }, undefined],
    [{ groups: "o p" }, undefined],
    [{ groups: { o: true } }, undefined],
    [{ roles: "o" }, undefined],
    [{}, undefined],
  ])("of %j is %p", (claims, role) => {
    expect(roleOf(claims, all)).toBe(role as never);
  });

  test("finds a claim by its whole name, or else by a path; never what objects inherit", () => {
    const nested = rules("realm_access.roles:x=owner");
    expect(roleOf({ realm_access: { roles: ["x"] } }, nested)).toBe("owner");
    expect(roleOf({ "realm_access.roles": "x" }, nested)).toBe("owner");
    // The whole name is the provider's own claim, whatever else there is.
    expect(roleOf({ "realm_access.roles": "y", realm_access: { roles: ["x"] } }, nested)).toBeUndefined();
    for (const name of ["constructor.name", "__proto__", "toString", "a.length", "groups.0"]) {
      expect(claimAt({ a: "text", groups: ["x"] }, name)).toBeUndefined();
    }
    expect(roleOf({}, rules("constructor.name:Object=owner"))).toBeUndefined();
  });

  test("of an address counts only where the provider has checked it", () => {
    const address = rules("email:ann@example.org=owner");
    const email = "ann@example.org";
    expect(roleOf({ email, email_verified: true }, address)).toBe("owner");
    for (const verified of [false, undefined, "true", 1]) {
      expect(roleOf({ email, email_verified: verified }, address)).toBeUndefined();
    }
  });
});

describe("nameOf()", () => {
  test("is a name that an administrator may have, with room for a number, whatever the claims are", () => {
    fc.assert(
      fc.property(fc.anything(), fc.string({ unit: "binary" }), (preferred, email) => {
        const name = nameOf({ preferred_username: preferred, email });
        expect(name).toMatch(ADMIN_NAME);
        expect(`${name}-99999`).toMatch(ADMIN_NAME);
      }),
    );
  });

  test("takes the address where there is no name", () => {
    expect(nameOf({ email: "Ann.Lee@example.org" })).toBe("ann.lee");
    expect(nameOf({ preferred_username: "", email: "ann@example.org" })).toBe("ann");
    expect(nameOf({})).toBe("sso");
  });
});

describe("emailOf()", () => {
  test("is one address that the provider does not doubt", () => {
    expect(emailOf({ email: "ann@example.org" })).toBe("ann@example.org");
    expect(emailOf({ email: "ann@example.org", email_verified: false })).toBeUndefined();
    for (const email of ["", "ann", "a@b\n", ["ann@example.org"], null, `${"x".repeat(300)}@example.org`]) {
      expect(emailOf({ email })).toBeUndefined();
    }
  });
});
