/** The same of an agent, beside a service without a host of its own: it dies once at each of its fault points, or who joins a host does. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { FAULT_POINTS } from "../../src/shared/work/fault-point.ts";
import { type Fleet, makeFleet } from "../long/crash/fleet.ts";
import { runFleetStep } from "../long/crash/fleet-walk.ts";
import { PLACES } from "../long/crash/places.ts";
import { HANG } from "../support/hang.ts";
import { describeOnHost } from "../support/host-account.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");

describeOnHost("a crash of an agent", () => {
  let fleet: Fleet;
  // More than all that is waited for in one of them.
  setDefaultTimeout(300_000);
  beforeAll(async () => {
    fleet = await makeFleet({ program: [process.execPath, MAIN] });
  });
  afterAll(() => fleet?.end());

  test.each(FAULT_POINTS.filter((point) => PLACES[point].world === "agent"))(
    "at %p leaves its host as the service has it stored",
    async (point) => {
      const { deed, nth = 1 } = PLACES[point];
      const { reached, faults } = await runFleetStep(fleet, { deed, point, nth }, ["agent"], HANG);
      expect({ reached, faults }).toEqual({ reached: true, faults: [] });
    },
  );
});
