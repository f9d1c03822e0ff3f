import { expect, test } from "bun:test";
import { isServed } from "../../src/host/fuse-mounts.ts";

test("isServed() is about that very path, and about FUSE", () => {
  // Mounted on every machine, by the kernel; and not mounted at all.
  for (const path of ["/proc", "/proc/self", import.meta.dir]) expect(isServed(path)).toBe(false);
});
