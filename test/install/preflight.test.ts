import { expect, test } from "bun:test";
import { requireNoAdopted } from "../../src/install/preflight.ts";

const named = (...names: string[]) => names.map((name) => ({ name }));

test("requireNoAdopted() refuses sudo mode where accounts were taken over, and names some", () => {
  expect(() => requireNoAdopted("sudo", named("bob", "carol"))).toThrow("(bob, carol): give them back");
  expect(() => requireNoAdopted("sudo", named("a", "b", "c", "d", "e", "f", "g"))).toThrow(
    "(a, b, c, d, e and 2 more)",
  );
});

test("requireNoAdopted() refuses nothing else", () => {
  expect(() => requireNoAdopted("sudo", [])).not.toThrow();
  expect(() => requireNoAdopted("direct", named("bob"))).not.toThrow();
});
