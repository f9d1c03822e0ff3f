/** The short form of `bun run test:long history`: a few blows and one calm, and the checker has nothing against it. */

import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom } from "../long/closings/random.ts";
import { check, textOf } from "../long/history/checker/check.ts";
import { openHistory } from "../long/history/driver/scene.ts";
import type { Line } from "../long/history/format.ts";

test.if(process.env.UAM_TEST_HOST === "1")(
  "hosts that are killed, cut off and stopped do what the model of histories allows",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "uam-history-test-"));
    const file = join(directory, "history.jsonl");
    const said: string[] = [];
    const scene = await openHistory({
      ...{ file, random: createRandom(1), seed: 1, hosts: 2, replicas: 1, makers: 3 },
      // Nothing of it ends by itself: on a busy machine an agent may be too late to renew a short lease.
      ...{ lease: 120_000, pace: 60, hours: false, say: (line: string) => said.push(line) },
    });
    try {
      await scene.begun();
      for (let blow = 0; blow < 8; blow++) {
        await scene.strike();
        await Bun.sleep(400);
      }
      await scene.calm();
    } finally {
      console.log(scene.summary());
      await scene.close();
    }
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    rmSync(directory, { recursive: true });
    expect(said).toEqual([]);
    const found = check(lines.map((line) => JSON.parse(line) as Line));
    // What follows from the first would hide it.
    expect(found.slice(0, 2).map(textOf).join("\n")).toBe("");
    expect(lines.length).toBeGreaterThan(200);
  },
  300_000,
);
