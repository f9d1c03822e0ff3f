import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { LOCKS } from "../../src/store/advisory-locks.ts";

const root = join(import.meta.dir, "../../src");

test("LOCKS gives no number twice", () => {
  const numbers = Object.values<number>(LOCKS);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test("every advisory lock that is taken is one of LOCKS", () => {
  const calls = [...new Glob("**/*.ts").scanSync(root)].flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/pg_(?:try_)?advisory\w*\(\s*(.{8})/g)].map(
      ([, argument]) => [file, argument] as const,
    ),
  );
  expect(calls.length).toBeGreaterThan(5);
  expect(calls.filter(([, argument]) => argument !== "${LOCKS.")).toEqual([]);
});
