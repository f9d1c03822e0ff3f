import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkFuse, checkLogo, checkPrivateFile, checkReserve, checkTerms } from "../../src/doctor/files.ts";
import { RESERVE_SIZE, reserveIn } from "../../src/shared/work/reserve.ts";
import { PNG } from "../support/logo.ts";

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

test("checkLogo() finds what would keep the service from starting, by the file's content", () => {
  expect(checkLogo(undefined)).toEqual([]);
  const path = join(dataDir, "logo.png");
  expect(checkLogo(path)).toMatchObject([{ area: "pages", state: "fault", finding: `${path} cannot be read` }]);
  writeFileSync(path, "<svg/>");
  expect(checkLogo(path)).toMatchObject([
    { state: "fault", finding: `${path} is neither a PNG nor a WebP picture`, remedy: expect.any(String) },
  ]);
  writeFileSync(path, PNG);
  expect(checkLogo(path)).toMatchObject([{ state: "ok" }]);
});

test("checkTerms() finds what would keep the service from starting", () => {
  expect(checkTerms(undefined)).toEqual([]);
  const path = join(dataDir, "terms.txt");
  expect(checkTerms(path)).toMatchObject([{ area: "terms", state: "fault" }]);
  writeFileSync(path, "Be kind.");
  expect(checkTerms(path)).toMatchObject([{ state: "ok" }]);
});

const modeOf = (path: string) => statSync(path).mode & 0o7777;

test("checkPrivateFile() takes rights of others away, with `fix` only", () => {
  const path = join(dataDir, "audit.key");
  expect(checkPrivateFile(path, true)).toEqual([]);
  writeFileSync(path, "");
  chmodSync(path, 0o644);
  expect(checkPrivateFile(path, false)).toMatchObject([{ state: "fault" }]);
  expect(modeOf(path)).toBe(0o644);
  expect(checkPrivateFile(path, true)).toMatchObject([{ state: "fixed" }]);
  expect(modeOf(path)).toBe(0o600);
  expect(checkPrivateFile(path, true)).toMatchObject([{ state: "ok" }]);
});

// In sudo mode root's doctor works in a directory of the service's user, who may have been taken over.
test.each(["link", "second name", "directory"])(
  "checkPrivateFile() changes nothing that it is led to (a %s)",
  (way) => {
    const path = join(dataDir, "audit.key");
    const roots = join(dataDir, "something of root's");
    if (way === "directory") mkdirSync(path);
    else writeFileSync(roots, "");
    if (way === "link") symlinkSync(roots, path);
    if (way === "second name") linkSync(roots, path);
    const found = way === "directory" ? path : roots;
    chmodSync(found, 0o755);
    expect(checkPrivateFile(path, true)).toMatchObject([{ state: "fault", finding: expect.stringContaining(path) }]);
    expect(modeOf(found)).toBe(0o755);
  },
);

test("checkPrivateFile() does not wait for a FIFO", () => {
  const path = join(dataDir, "mail.log");
  expect(Bun.spawnSync(["mkfifo", "-m", "0666", path]).exitCode).toBe(0);
  expect(checkPrivateFile(path, true)).toMatchObject([{ state: "fault" }]);
});
