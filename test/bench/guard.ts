/** Whether a hot path has become more than a fifth dearer, against its floor in the same run; CI fails then. */

import { BINARY } from "../support/service.ts";
import { describeMachine } from "./bench.ts";
import { type Figures, measureHotPaths, PATHS, pathsHere } from "./hot-paths.ts";
import { lost, RECORDED, SlowerError } from "./recorded.ts";

const ROUNDS = 4;
/** For a path that seemed dearer: one bad minute of the machine is no proof. */
const MORE_ROUNDS = 9;

/** Prints each ratio beside the recorded one; throws a sentence for each path that lost more than a fifth of it, twice. */
export async function benchGuard(): Promise<void> {
  console.log(`\n## Hot paths against their floor, by processor time\n\n${describeMachine()}`);
  const candidates = [{ name: "this", binary: BINARY }];
  const paths = pathsHere();
  if (paths.length < PATHS.length) console.log("key changes are left out: they need root");
  const figures = await measureHotPaths(candidates, ROUNDS, paths);
  for (const figure of figures) console.log(describe(figure));
  const suspects = figures.filter((figure) => lost(figure) !== undefined).map(({ path }) => path);
  if (suspects.length === 0) return;
  console.log(`once more: ${suspects.join(", ")}`);
  const again = await measureHotPaths(candidates, MORE_ROUNDS, suspects);
  for (const figure of again) console.log(describe(figure));
  const losses = again.map(lost).filter((sentence) => sentence !== undefined);
  if (losses.length > 0) throw new SlowerError(losses.join("\n"));
}

function describe({ path, floor, own: [own = Number.NaN], ratios: [ratio = Number.NaN] }: Figures): string {
  const times = `${own.toFixed(1)} us, floor ${floor.toFixed(1)} us`;
  return `${path.padEnd(14)} ${times.padEnd(36)} ratio ${ratio.toFixed(3)} (recorded ${RECORDED[path]})`;
}
