import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import runtimes from "../../src/build/bun/package.json" with { type: "json" };
import { PROJECT, requireBun } from "../../src/build/packages.ts";

describe("requireBun", () => {
  test("requireBun() accepts only the version in the binaries, which is the project's", () => {
    const pinned = manifest.engines.bun;
    expect(Object.values(runtimes.optionalDependencies)).toEqual([pinned, pinned]);
    expect(() => requireBun(pinned)).not.toThrow();
    expect(() => requireBun("1.0.0")).toThrow(`use Bun ${pinned}`);
  });

  test.each(["README.md", ".ci/run", "Containerfile", "src/main.ts"])("%s names that version", (file) => {
    const named = readFileSync(join(PROJECT, file), "utf8").matchAll(/\bbun[@:](\d+\.\d+\.\d+)/g);
    expect([...new Set([...named].map((match) => match[1]))]).toEqual([manifest.engines.bun]);
  });
});
