/** What the hot paths cost, beside their floor, and beside another commit in turns. */

import { BINARY } from "../support/service.ts";
import { describeMachine } from "./bench.ts";
import { type Candidate, measureHotPaths, PATHS, pathsHere } from "./hot-paths.ts";

const ROUNDS = 9;

/** Prints the hot paths of this binary and of the rival, if there is one, each beside the floor, and what this takes of the rival's. */
export async function benchHotPaths(rival: Candidate | undefined): Promise<void> {
  const candidates = [{ name: "this", binary: BINARY }, ...(rival === undefined ? [] : [rival])];
  console.log(`\n## Hot paths, in turns\n\n${describeMachine()}`);
  const paths = pathsHere();
  if (paths.length < PATHS.length) console.log("key changes are left out: they need root");
  console.log(["path".padEnd(14), "floor", ...candidates.map(({ name }) => name)].join("  "));
  for (const { path, floor, own, ratios, processor, time } of await measureHotPaths(candidates, ROUNDS, paths)) {
    const each = own.map((cost, index) => `${cost.toFixed(1)} us (${ratios[index]?.toFixed(3)})`);
    const compared =
      rival === undefined
        ? ""
        : `  this / ${rival.name}: ${processor.toFixed(3)} of the processor time${isTimed(path) ? `, ${time.toFixed(3)} of the time` : ""}`;
    console.log(`${path.padEnd(14)}  ${floor.toFixed(1)} us  ${each.join("  ")}${compared}`);
  }
}

/** How long a request takes is known where one is asked for at a time. */
function isTimed(path: (typeof PATHS)[number]): boolean {
  return !path.startsWith("GET");
}
