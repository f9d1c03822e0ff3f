import { afterAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { BUILT, OLD_RELEASES, SOURCE } from "../../../src/build/postgres/pinned.ts";
import { cachesOf, findBuilt, requireServers } from "../../../src/build/postgres/server.ts";
import { cannotBuild } from "../../../src/build/postgres/tree.ts";
import { archive, closeArchives, HAS_APT, missing } from "../support/archive.ts";

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

  test.skipIf(!HAS_APT || cannotBuild() !== undefined)(
    "where no archive has what it takes, names them, and takes nothing of a killed build for whole",
    async () => {
      const cache = join(top, "killed");
      for (const each of ["work-a1b2c3/tree/build", "work-4711-d4e5f6"])
        mkdirSync(join(cache, each), { recursive: true });
      writeFileSync(join(cache, "work-a1b2c3/tree/build/x86_64-linux-gnu.tar"), "half a server");
      writeFileSync(join(cache, name), "the other half");
      const nothing = await archive(missing);
      const { http_proxy, https_proxy } = process.env;
      Object.assign(process.env, { http_proxy: nothing.url, https_proxy: nothing.url });
      try {
        const refused = requireServers(["x64"], { caches: [cache] });
        await expect(refused).rejects.toThrow(
          /not possible here: Debian's bullseye for amd64 cannot be had; sought in .*archive\.debian\.org/s,
        );
      } finally {
        for (const [key, value] of Object.entries({ http_proxy, https_proxy }))
          if (value === undefined) delete process.env[key];
          else process.env[key] = value;
        closeArchives();
      }
      expect(nothing.asked).toContain(`${OLD_RELEASES}/dists/bullseye/InRelease`);
      expect(readdirSync(cache).toSorted()).toEqual(["lock", name]);
      expect(findBuilt("x64", [cache])).toBeUndefined();
    },
  );
});
