/** The browser's work: it finds the number, gives way to the page, and can be given up. */

import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { solve } from "../../../../../src/console/pages/public/login/proof.ts";
import { testSlow } from "../../../../support/thorough.ts";

function proof(n: number, maximum: number, salt = "a salt.é") {
  const target = createHash("sha256").update(`${salt}${n}`).digest("hex");
  return { algorithm: "SHA-256", salt, target, maximum };
}

function watch(signal = new AbortController().signal) {
  const shares: number[] = [];
  return { shares, signal, onProgress: (share: number) => void shares.push(share) };
}

describe("the work", () => {
  for (const n of [0, 1, 249, 250, 251, 4_999, 5_000]) {
    test(`finds ${n} of 0 to 5000`, async () => {
      expect(await solve(proof(n, 5_000), watch())).toBe(n);
    });
  }

  test("takes a target in capitals", async () => {
    const task = proof(77, 100);
    expect(await solve({ ...task, target: task.target.toUpperCase() }, watch())).toBe(77);
  });

  test("says that there is no solution", async () => {
    await expect(solve(proof(2_001, 2_000), watch())).rejects.toThrow("no solution");
  });

  testSlow("lets others work meanwhile, and says how far it is", async () => {
    const watched = watch();
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await solve(proof(300_000, 300_000), watched);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
    expect(watched.shares.length).toBeGreaterThan(0);
    expect(watched.shares).toEqual([...watched.shares].sort((a, b) => a - b));
    expect(watched.shares.every((share) => share > 0 && share <= 1)).toBe(true);
  });

  test("stops when it is given up", async () => {
    const controller = new AbortController();
    const solving = solve(proof(50_000_001, 50_000_000), watch(controller.signal));
    setTimeout(() => controller.abort(), 30);
    await expect(solving).rejects.toThrow("abort");
  });
});
