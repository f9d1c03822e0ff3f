import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { openTrusted, readMounts } from "../../src/host/safe-open.ts";
import { describeOnHost } from "../support/host-account.ts";

const base = mkdtempSync("/var/tmp/uam-walk-");
chmodSync(base, 0o755);
mkdirSync(join(base, "real/sub"), { recursive: true, mode: 0o755 });
symlinkSync(join(base, "real"), join(base, "link"));
writeFileSync(join(base, "file"), "");

afterAll(() => rmSync(base, { recursive: true }));

test("openTrusted() opens what a link of an administrator's leads to", () => {
  const directory = openTrusted(join(base, "link/sub"));
  expect(readlinkSync(`/proc/self/fd/${directory}`)).toBe(join(base, "real/sub"));
  closeSync(directory);
});

test("openTrusted() refuses what is no directory, is missing, or is open to others, also behind a link", () => {
  expect(() => openTrusted(join(base, "file"))).toThrow("ENOTDIR");
  expect(() => openTrusted(join(base, "link/none"))).toThrow("ENOENT");
  chmodSync(join(base, "real"), 0o777);
  const sentence = `${join(base, "real")} is writable by users other than its owner: refusing to work below it`;
  expect(() => openTrusted(join(base, "real/sub"))).toThrow(sentence);
  expect(() => openTrusted(join(base, "link/sub"))).toThrow(sentence);
});

describeOnHost("readMounts()", () => {
  test("readMounts() lists all of them, however many, as they are by then", () => {
    const script = `
      import { readMounts } from "${join(import.meta.dir, "../../src/host/safe-open.ts")}";
      const mine = () => readMounts().filter(({ path }) => path.startsWith("${base}/mounts/")).map(({ path }) => path);
      const run = (...argv) => Bun.spawnSync(argv).exitCode;
      for (let each = 0; each < 200; each++) {
        const path = "${base}/mounts/" + each;
        run("mkdir", "-p", path);
        run("mount", "-t", "tmpfs", "none", path);
        if (mine().length !== each + 1) throw new Error(path);
      }
      run("umount", "${base}/mounts/7");
      const left = mine();
      console.log(left.length, left.includes("${base}/mounts/7"), left.at(-1));`;
    const { stdout, stderr } = spawnSync("unshare", ["-m", process.execPath, "-e", script], { encoding: "utf8" });
    expect(stderr).toBe("");
    expect(stdout).toBe(`199 false ${base}/mounts/199\n`);
    expect(readMounts().some(({ path }) => path.startsWith(base))).toBe(false);
  });
});
