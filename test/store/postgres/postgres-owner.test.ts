import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canEnter, ownIdentity } from "../../../src/store/postgres/postgres-owner.ts";

test("canEnter() goes by the mode of each directory on the way, for owner, group and others", () => {
  const { uid, gid } = ownIdentity();
  const others = { uid: uid + 1, gid: gid + 1 };
  const group = { uid: uid + 1, gid };
  const top = mkdtempSync(join(tmpdir(), "uam-enter-"));
  const inner = join(top, "inner");
  mkdirSync(inner, { mode: 0o755 });
  const may = (mode: number) => {
    chmodSync(top, mode);
    return [{ uid, gid }, group, others].map((owner) => canEnter(owner, inner));
  };
  expect(may(0o700)).toEqual([true, false, false]);
  expect(may(0o710)).toEqual([true, true, false]);
  expect(may(0o711)).toEqual([true, true, true]);
  expect(may(0o701)).toEqual([true, false, true]);
  chmodSync(inner, 0o700);
  expect(canEnter(others, inner)).toBe(false);
  rmSync(top, { recursive: true });
});
