import { afterAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readHolds } from "../../../src/agent/holds.ts";
import { readLease } from "../../../src/agent/lease.ts";
import { readStatus } from "../../../src/agent/status.ts";
import { readState } from "../../../src/agent/store.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { readLocks } from "../../../src/shared/system/lock-journal.ts";
import { readPlainFile } from "../../../src/shared/system/plain-file.ts";

const directory = mkdtempSync(join(tmpdir(), "uam-test-plain-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function fifo(name: string): string {
  const path = join(directory, name);
  expect(spawnSync("mkfifo", [path]).status).toBe(0);
  return path;
}

describe("readPlainFile()", () => {
  test("reads a file, and nothing else that may be in its place", () => {
    const path = join(directory, "file");
    writeFileSync(path, "text");
    expect(readPlainFile(path)).toBe("text");
    symlinkSync(path, join(directory, "link"));
    mkdirSync(join(directory, "directory"));
    expect(() => readPlainFile(join(directory, "link"))).toThrow("ELOOP");
    expect(() => readPlainFile(join(directory, "directory"))).toThrow("is not a file");
    expect(() => readPlainFile(fifo("fifo"))).toThrow("is not a file");
    expect(() => readPlainFile(join(directory, "none"))).toThrow("ENOENT");
    truncateSync(path, 2 ** 40);
    expect(() => readPlainFile(path)).toThrow("more than any that uam writes");
  });

  test("is what root reads an agent's and the service's files with: a FIFO keeps nobody waiting", () => {
    fifo("state.json");
    fifo("status.json");
    fifo("lease");
    fifo("hold-00000000-0000-0000-0000-000000000000.json");
    fifo("lock-00000000-0000-0000-0000-000000000000.json");
    expect(() => readState(directory)).toThrow("is not a file");
    expect(readStatus(directory)).toBeUndefined();
    expect(readLease({ directory, target: "" }, "lease")).toBeUndefined();
    expect(readHolds(directory)).toEqual([]);
    expect(readLocks(directory, silentLog)).toEqual([]);
  });
});
