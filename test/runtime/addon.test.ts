import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { ownArchitecture } from "../../src/build/packages.ts";
import { lazyAddon } from "../../src/runtime/addon.ts";

const MODULES = join(import.meta.dir, "../../node_modules");
const PLATFORM = `linux-${ownArchitecture()}-gnu`;
const directory = mkdtempSync(join(tmpdir(), "uam-test-addon-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function pack(name: string, addon: string): void {
  writeFileSync(join(directory, name), zstdCompressSync(readFileSync(join(MODULES, addon))));
}

const descriptors = (): number => readdirSync("/proc/self/fd").length;

test("lazyAddon() loads with the first call; where that fails, the call throws, keeps nothing open, and the next tries again", async () => {
  const { hash } = lazyAddon(join(directory, "argon2"), ["hash"]);
  const before = descriptors();
  expect(() => hash?.("secret")).toThrow("A native library cannot be loaded");
  writeFileSync(join(directory, "argon2"), "no zstd");
  expect(() => hash?.("secret")).toThrow("A native library cannot be loaded");
  writeFileSync(join(directory, "argon2"), zstdCompressSync("no library"));
  expect(() => hash?.("secret")).toThrow("A native library cannot be loaded");
  expect(descriptors()).toBe(before);

  pack("argon2", `@node-rs/argon2-${PLATFORM}/argon2.${PLATFORM}.node`);
  expect(await hash?.("secret")).toStartWith("$argon2id$");
  rmSync(join(directory, "argon2"));
  expect(await hash?.("secret")).toStartWith("$argon2id$");

  // The second library is not taken for the first.
  pack("resvg", `@resvg/resvg-js-${PLATFORM}/resvgjs.${PLATFORM}.node`);
  const { renderAsync } = lazyAddon(join(directory, "resvg"), ["renderAsync"]);
  const image = await renderAsync?.("<svg xmlns='http://www.w3.org/2000/svg' width='4' height='4'/>");
  expect(image).toMatchObject({ width: 4, height: 4 });
  expect(readFileSync("/proc/self/maps", "utf8")).toContain("memfd:uam-addon");
});
