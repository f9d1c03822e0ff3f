import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../../src/build/packages.ts";
import { STATUS } from "../../../src/server/api/http/errors.ts";
import { DEFAULT_REASONS, UamError } from "../../../src/shared/errors.ts";
import { REASONS } from "../../../src/shared/product/reasons.ts";

describe("REASONS", () => {
  test("are names of an area and what happened there, each with a sentence", () => {
    for (const [name, meaning] of Object.entries(REASONS)) {
      expect(name).toMatch(/^(internal|[a-z_]+\.[a-z_]+)$/);
      expect(meaning).toMatch(/^[A-Z].*\.$/);
    }
  });

  test("are each given somewhere: none is documented that nothing says", () => {
    const source = join(PROJECT, "src");
    const files = readdirSync(source, { recursive: true, encoding: "utf8" });
    // The contract says which routes can give it, and gives none itself.
    const says = (name: string) => name === "shared/product/reasons.ts" || name.startsWith("contract/");
    const texts = files.filter((name) => name.endsWith(".ts") && !says(name));
    const all = texts.map((name) => readFileSync(join(source, name), "utf8")).join("\n");
    const defaults: readonly string[] = Object.values(DEFAULT_REASONS);
    const silent = Object.keys(REASONS).filter((name) => !all.includes(`"${name}"`) && !defaults.includes(name));
    expect(silent).toEqual([]);
  });

  test("have one for each code of an error that gives none", () => {
    expect(Object.keys(DEFAULT_REASONS).sort()).toEqual(Object.keys(STATUS).sort());
    expect(new UamError("limited", "Wait").reason).toBe("rate.limited");
    expect(new UamError("limited", "Wait", { reason: "service.busy" }).reason).toBe("service.busy");
  });
});
