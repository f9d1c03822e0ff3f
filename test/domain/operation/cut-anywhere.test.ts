/** Operations on a user, their connection cut here and there; `bun run test:long faults` cuts all of them at every message. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { type Cutter, openCutter } from "../../support/cut-anywhere.ts";

let app: TestApp;
let cutter: Cutter;

beforeAll(async () => {
  app = await createTestApp();
  cutter = await openCutter(app);
});
afterAll(async () => {
  await cutter.close();
  await app.close();
});

test.each(["create", "upload", "revoke", "lock"])(
  "%s is done or not done, says so, and what is owed is finished",
  async (name) => {
    const { faults, cuts } = await cutter.walk(name, 5, 3);
    expect(faults).toEqual([]);
    expect(cuts).toBeGreaterThan(1);
  },
);
