import { afterAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { backupName, pruneBackups, requireOwnDirectory } from "../../../src/store/backup/backup-directory.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-backups-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const UNITS = join(import.meta.dir, "../../../deploy/systemd");
const days = [1, 2, 3].map((day) => backupName(new Date(Date.UTC(2026, 0, day, 4, 5, 6, 7))));

describe("pruneBackups()", () => {
  test("removes the oldest and nothing that has another name", () => {
    const directory = join(top, "pruned");
    mkdirSync(directory);
    const others = ["before-restore-1.uam-backup", `.${days[0]}.0a.part`, `${days[0]}.age`];
    for (const name of [...days, ...others]) writeFileSync(join(directory, name), "");
    expect(days[0]).toBe("uam-20260101T040506.007Z.uam-backup");
    expect(pruneBackups(directory, 3)).toEqual([]);
    expect(pruneBackups(directory, 1)).toEqual(days.slice(0, 2).map((name) => join(directory, name)));
    expect(readdirSync(directory).sort()).toEqual([...days.slice(2), ...others].sort());
  });
});

describe("requireOwnDirectory()", () => {
  test("refuses a file, a link and what others can write to, in a sentence", () => {
    writeFileSync(join(top, "file"), "");
    expect(() => requireOwnDirectory(join(top, "file"))).toThrow("is not a directory and cannot be made");
    symlinkSync("pruned", join(top, "link"));
    expect(() => requireOwnDirectory(join(top, "link"))).toThrow("Others can write to");
    requireOwnDirectory(join(top, "new/one"));
    requireOwnDirectory(join(top, "new/one"));
  });
});

test.skipIf(Bun.which("systemd-analyze") === null)("systemd finds nothing wrong in the units of deploy/systemd", () => {
  const directory = join(top, "units");
  mkdirSync(directory);
  for (const name of readdirSync(UNITS)) copyFileSync(join(UNITS, name), join(directory, name));
  // A program that is there: uam may not be installed.
  const service = join(directory, "uam-backup.service");
  writeFileSync(service, readFileSync(service, "utf8").replace("ExecStart=uam", `ExecStart=${process.execPath}`));
  const files = readdirSync(UNITS).map((name) => join(directory, name));
  const { stdout, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", ...files], { encoding: "utf8" });
  expect((stdout + stderr).split("\n").filter((line) => line.includes("uam-backup"))).toEqual([]);
});
