import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { processorTime } from "./hang.ts";
import { testSlow } from "./thorough.ts";

const TESTS = join(import.meta.dir, "..");
/** A bound on what passed by the clock that is neither of the two that only a hang reaches. */
const BOUND = /(?:performance\.now|Date\.now)\(\) - [\w.]+\)\.toBeLess\w+\((?!HANG|SHORT_HANG)/;

test("no test loses to the clock of a busy machine", () => {
  const found = [...new Glob("**/*.test.{ts,tsx}").scanSync({ cwd: TESTS })].flatMap((path) =>
    readFileSync(join(TESTS, path), "utf8")
      .split("\n")
      .flatMap((line, index) => (BOUND.test(line) ? [`${path}:${index + 1}`] : [])),
  );
  expect(found).toEqual([]);
});

testSlow("processorTime() counts what this process does, and not what it waits for", async () => {
  const work = () => {
    for (const end = process.cpuUsage().user + 100_000; process.cpuUsage().user < end; );
  };
  expect(await processorTime(work)).toBeGreaterThanOrEqual(90);
  // What the collector does of the tests before is this process's, too, but not each time.
  const waits: number[] = [];
  for (let attempt = 0; attempt < 5; attempt++) waits.push(await processorTime(() => Bun.sleep(600)));
  expect(Math.min(...waits)).toBeLessThan(500);
});
