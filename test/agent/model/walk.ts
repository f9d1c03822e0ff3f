/** Random walks through the model, each in a world of its own. */

import { seededRandom } from "../../support/audit-log.ts";
import { RULES, type Rules } from "./agent.ts";
import { SERVICE_RULES, type ServiceRules, type Violation, World } from "./world.ts";

/** Steps of one world: enough for a restore and what follows it. */
const LENGTH = 400;

export interface Walk {
  readonly steps: number;
  readonly worlds: number;
  readonly violation?: Violation & { readonly seed: number; readonly story: readonly string[] };
}

/** Walks at least so many steps, or until a promise is broken. The seed of each world follows from the first. */
export async function walk(
  steps: number,
  seed: number,
  { rules = RULES, service = SERVICE_RULES }: { readonly rules?: Rules; readonly service?: ServiceRules } = {},
): Promise<Walk> {
  let done = 0;
  let worlds = 0;
  while (done < steps) {
    const own = seed + worlds++;
    const world = new World(seededRandom(own), rules, service);
    for (let step = 0; step < LENGTH; step++) {
      done++;
      const violation = await world.step();
      if (violation !== undefined)
        return { steps: done, worlds, violation: { ...violation, seed: own, story: world.story } };
    }
    const violation = await world.settle();
    if (violation !== undefined)
      return { steps: done, worlds, violation: { ...violation, seed: own, story: world.story } };
  }
  return { steps: done, worlds };
}
