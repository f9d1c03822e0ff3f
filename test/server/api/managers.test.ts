/** A manager's requests, drawn at random over every route of the document: they reach no other company, and give nothing. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { createManagersWorld, type World } from "../../support/managers-world.ts";
import { isThorough } from "../../support/thorough.ts";

setDefaultTimeout(600_000);

let app: TestApp;
let world: World;

beforeAll(async () => {
  app = await createTestApp();
  world = await createManagersWorld(app);
});
afterAll(() => app.close());

describe("a manager", () => {
  test("reads and changes nothing of another company, and gives nothing, whatever they send anywhere", async () => {
    const { sent, succeeded } = await world.tryRequests(isThorough ? 1000 : 300, 1);
    expect(sent).toBe(isThorough ? 1000 : 300);
    expect(succeeded.size).toBeGreaterThan(3);
  });
});
