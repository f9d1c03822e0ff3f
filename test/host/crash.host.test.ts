/**
 * The service killed once at each of its fault points, on a real host: after the next start what is stored, the host and the log agree,
 * and what was acknowledged is there. `bun run test:long crash` does the same at every pass of every deed, with the database and the
 * agent as victims too.
 */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { FAULT_POINTS, type FaultPoint } from "../../src/shared/work/fault-point.ts";
import { PLACES } from "../long/crash/places.ts";
import { runStep } from "../long/crash/walk.ts";
import { makeWorld, type World } from "../long/crash/world.ts";
import { HANG } from "../support/hang.ts";
import { describeOnHost } from "../support/host-account.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");
const own = FAULT_POINTS.filter((point) => PLACES[point].world === "service");

describeOnHost("a crash of the service", () => {
  let world: World;
  // More than all that is waited for in one of them.
  setDefaultTimeout(300_000);
  beforeAll(async () => {
    world = await makeWorld({ program: [process.execPath, MAIN], hostMode: "direct" });
  });
  afterAll(() => world?.end());

  async function dieAt(point: FaultPoint, victim: "service" | "both" | "postgres"): Promise<void> {
    const { deed, nth = 1 } = PLACES[point];
    const { reached, faults } = await runStep(world, { deed, point, nth }, victim, HANG);
    expect({ reached, faults }).toEqual({ reached: true, faults: [] });
  }

  test.each(own)("at %p loses nothing that was acknowledged, and leaves nothing half done", (point) =>
    dieAt(point, "service"),
  );

  test("with its database at the same time does not, either", () =>
    dieAt("operation: recorded, not committed", "both"));

  test("of the database alone, while the service starts, does not keep it from serving", () =>
    dieAt("start: host reconciled, not serving", "postgres"));
});
