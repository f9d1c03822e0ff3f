/**
 * What the floor of each hot path takes of the program's processor time, as `bun run bench guard` measured it last; raise one when
 * its path has become cheaper, and say in the commit why if it has to be lowered.
 */

import type { Figures, HotPath } from "./hot-paths.ts";

export const RECORDED: Readonly<Record<HotPath, number>> = {
  "GET /me/keys": 0.95,
  "GET /audit": 0.85,
  export: 0.6,
  // One program has between 0.066 and 0.112 here, and between 0.11 and 0.139 below, on a quiet machine: the database also does what mail and jobs ask.
  "key upload": 0.08,
  revocation: 0.125,
};

/** The share of a recorded ratio that may be lost. */
const TOLERANCE = 0.2;

/** A hot path is slower than it was. */
export class SlowerError extends Error {}

/** A sentence if the path has lost more than is tolerated; undefined if not. */
export function lost({ path, ratios: [ratio = 0] }: Pick<Figures, "path" | "ratios">): string | undefined {
  const least = RECORDED[path] * (1 - TOLERANCE);
  if (ratio >= least) return undefined;
  return `${path}: the floor takes ${ratio.toFixed(3)} of its processor time; it was ${RECORDED[path]}, and ${least.toFixed(3)} is the least. Make it cheaper again, or record the new ratio in test/bench/recorded.ts and say why.`;
}
