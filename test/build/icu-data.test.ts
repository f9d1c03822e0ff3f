import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { zstdCompressSync } from "node:zlib";
import { withoutLanguages } from "../../src/build/icu-data.ts";
import { installedPackage, minimalPostgresTree } from "../../src/store/postgres/postgres-tree.ts";

const file = minimalPostgresTree(installedPackage(process.arch)).files.find(({ path }) => path.includes("libicudata"));
const library = readFileSync(file?.source ?? "");

describe("withoutLanguages()", () => {
  const slim = withoutLanguages(library);

  test("withoutLanguages() keeps the library's size, its beginning and its end, and the result compresses well", () => {
    expect(slim.length).toBe(library.length);
    // Headers, symbols, and the names of all items.
    expect(slim.subarray(0, 64_000)).toEqual(library.subarray(0, 64_000));
    expect(slim.subarray(-4096)).toEqual(library.subarray(-4096));
    expect(zstdCompressSync(slim).length).toBeLessThan(500_000);
    expect(slim.filter((byte) => byte !== 0).length).toBeGreaterThan(300_000);
  });

  test("withoutLanguages() does not change its own result", () => {
    expect(Buffer.from(withoutLanguages(slim)).equals(slim)).toBe(true);
  });

  test("withoutLanguages() throws for a library that is not built as expected", () => {
    expect(() => withoutLanguages(new Uint8Array(1000))).toThrow("no package");
    const renamed = Buffer.from(library);
    renamed.write("x", renamed.indexOf("coll/ucadata.icu"));
    expect(() => withoutLanguages(renamed)).toThrow("has no coll/ucadata.icu");
  });
});
