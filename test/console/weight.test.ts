import { expect, test } from "bun:test";
import { bundleConsole } from "../../src/build/console.ts";
import { BUDGET, weigh } from "./support/weight.ts";

test("the console weighs no more than it may, and no script is forgotten", async () => {
  const weight = weigh(await bundleConsole());
  for (const [part, most] of Object.entries(BUDGET)) {
    const bytes = weight[part as keyof typeof BUDGET];
    expect({ part, bytes, fits: bytes > 1000 && bytes <= most }).toEqual({ part, bytes, fits: true });
  }
});
