import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkFuse, checkReserve } from "../../src/doctor/files.ts";
import { RESERVE_SIZE, reserveIn } from "../../src/shared/reserve.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "uam-doctor-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test("checkReserve() says whether the room is there that is kept for a full disk, and what is left of it", () => {
  expect(checkReserve(dataDir)).toEqual([]);
  mkdirSync(join(dataDir, "postgres"));
  expect(checkReserve(dataDir)).toMatchObject([
    { state: "note", finding: expect.stringContaining("has no reserve of 64 MB") },
  ]);
  writeFileSync(reserveIn(dataDir), "");
  truncateSync(reserveIn(dataDir), RESERVE_SIZE / 4);
  expect(checkReserve(dataDir)).toMatchObject([
    { state: "fault", finding: "The reserve of the database is in use, and 16 of 64 MB are left of it" },
  ]);
  truncateSync(reserveIn(dataDir), RESERVE_SIZE);
  expect(checkReserve(dataDir)).toMatchObject([{ state: "ok" }]);
});

test("checkFuse() notes that root can be kept waiting, and nothing where that is commented out", () => {
  const path = join(dataDir, "fuse.conf");
  expect(checkFuse(path)).toEqual([]);
  writeFileSync(path, "# Allow others:\n#user_allow_other\nmount_max = 1000\n");
  expect(checkFuse(path)).toEqual([]);
  writeFileSync(path, "mount_max = 1000\nuser_allow_other\n");
  expect(checkFuse(path)).toMatchObject([{ area: "host", state: "note" }]);
});
