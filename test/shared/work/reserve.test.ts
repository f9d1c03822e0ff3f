import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bunRuntime } from "../../../src/runtime/bun.ts";
import {
  openReserve,
  RESERVE_SIZE,
  type Reserve,
  releaseReserve,
  reserveIn,
  reserveLeft,
} from "../../../src/shared/work/reserve.ts";

const { allocate } = bunRuntime.openKernel();
const MEGABYTE = 1024 * 1024;

let dataDir: string;
let path: string;
let given: number[];
const open = (by = allocate): Reserve => openReserve(path, by, (left) => given.push(left));

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "uam-reserve-"));
  mkdirSync(join(dataDir, "postgres"));
  path = reserveIn(dataDir);
  given = [];
});
afterEach(() => {
  spawnSync("umount", ["-l", join(dataDir, "postgres")], { stdio: "ignore" });
  rmSync(dataDir, { recursive: true, force: true });
});

test("allocate() has the disk keep room, and refuses what it does not have", () => {
  const fd = openSync(join(dataDir, "file"), "w+");
  try {
    expect(allocate(fd, MEGABYTE)).toBe(true);
    expect(statSync(join(dataDir, "file"))).toMatchObject({ size: MEGABYTE });
    expect(statSync(join(dataDir, "file")).blocks * 512).toBeGreaterThanOrEqual(MEGABYTE);
    expect(allocate(fd, 2 ** 60)).toBe(false);
  } finally {
    closeSync(fd);
  }
});

describe("openReserve()", () => {
  test("lays it once, gives it up piece by piece, and lays it again", () => {
    const reserve = open();
    expect([reserve.isInUse(), reserve.release()]).toEqual([false, false]);
    reserve.lay();
    reserve.lay();
    expect([reserveLeft(path), reserve.isInUse()]).toEqual([RESERVE_SIZE, false]);
    expect(readdirSync(join(dataDir, "postgres"))).toEqual(["reserve"]);
    const released = [1, 2, 3, 4, 5].map(() => reserve.release());
    expect(released).toEqual([true, true, true, true, false]);
    expect(given.map((left) => left / MEGABYTE)).toEqual([48, 32, 16, 0]);
    // There is room all the time, so whoever asks has it laid again.
    expect([reserve.isInUse(), reserveLeft(path)]).toEqual([false, RESERVE_SIZE]);
  });

  test("is in use, for every process, for as long as the disk gives no more room", () => {
    open().lay();
    releaseReserve(path);
    const tries: number[] = [];
    const refusing = open((_, bytes) => tries.push(bytes) === 0);
    expect([refusing.isInUse(), refusing.isInUse(), open(() => false).isInUse()]).toEqual([true, true, true]);
    // Whoever asks for access all the time does not make the disk work.
    expect(tries).toHaveLength(1);
    expect(reserveLeft(path)).toBe(48 * MEGABYTE);
  });

  test("leaves nothing behind where the disk refuses, and is then not in use", () => {
    const refusing = open((fd, bytes) => {
      truncateSync(`/proc/self/fd/${fd}`, bytes / 2);
      return false;
    });
    refusing.lay();
    expect([readdirSync(join(dataDir, "postgres")), refusing.isInUse()]).toEqual([[], false]);
    open().lay();
    releaseReserve(path);
    refusing.lay();
    expect(reserveLeft(path)).toBe(48 * MEGABYTE);
  });

  test.if(process.geteuid?.() === 0)("takes no room that others need, and what it gives up is room at once", () => {
    const place = join(dataDir, "postgres");
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=140m", "uam-reserve", place]);
    expect(mounted.status).toBe(0);
    const take = (name: string, megabytes: number) =>
      spawnSync("fallocate", ["-l", `${megabytes}M`, join(place, name)]).status === 0;
    expect(take("most", 20)).toBe(true);
    open().lay();
    expect(reserveLeft(path)).toBeUndefined();
    rmSync(join(place, "most"));
    open().lay();
    expect(reserveLeft(path)).toBe(RESERVE_SIZE);
    expect([take("rest", 76), take("more", 8)]).toEqual([true, false]);
    const reserve = open();
    expect([reserve.release(), take("more", 8), reserve.isInUse()]).toEqual([true, true, true]);
    rmSync(join(place, "rest"));
    expect(open().isInUse()).toBe(false);
  });
});
