import { afterAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { BUILT, SOURCE } from "../../../src/build/postgres/pinned.ts";
import { cachesOf, findBuilt, requireServers } from "../../../src/build/postgres/server.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-server-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));
const name = `postgresql-${SOURCE.version}-x64-${BUILT.x64.slice(0, 12)}.tar`;

describe("findBuilt()", () => {
  test("takes nothing whose checksum is not the pinned one, whatever it is called", () => {
    const cache = join(top, "forged");
    mkdirSync(cache);
    writeFileSync(join(cache, name), "another server");
    expect(findBuilt("x64", [cache])).toBeUndefined();
    expect(findBuilt("x64", [join(top, "missing")])).toBeUndefined();
  });

  test.skipIf(findBuilt("x64") === undefined)("finds it in any cache that has it", () => {
    const path = findBuilt("x64", [join(top, "forged"), ...cachesOf(process.env)]) ?? "";
    expect(path).toEndWith(`/${name}`);
    expect(createHash("sha256").update(readFileSync(path)).digest("hex")).toBe(BUILT.x64);
  });
});

describe("requireServers()", () => {
  test("where it cannot compile, says what it takes and what else can be done, and leaves nothing half done", async () => {
    const { PATH } = process.env;
    process.env.PATH = top;
    try {
      const refused = requireServers(["x64", "arm64"], { caches: [join(top, "empty")] });
      await expect(refused).rejects.toThrow(
        /^A release carries PostgreSQL .* not possible here: .*apt.* or, to try out only, build with --npm-postgres/s,
      );
      await expect(refused).rejects.toThrow(`Or copy ${name} and postgresql-${SOURCE.version}-arm64-`);
    } finally {
      process.env.PATH = PATH;
    }
    expect(findBuilt("x64", [join(top, "empty")])).toBeUndefined();
  });
});
