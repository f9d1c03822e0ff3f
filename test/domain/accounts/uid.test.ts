/** User ids that accounts were given. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { givenUidsOf } from "../../../src/domain/accounts/uid.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

test("givenUidsOf() tells the uids of accounts that are gone from those of accounts that are there", async () => {
  const admin = await app.admin();
  const kept = await app.user("kept");
  const gone = await app.user("gone");
  expect((await admin.call("DELETE", `/users/${gone.id}`)).status).toBe(200);
  const first = app.config.uidRange.first;
  expect(await givenUidsOf(app.db)).toEqual([
    { uid: first, isStored: true },
    { uid: first + 1, isStored: false },
  ]);
  expect((await admin.call("DELETE", `/users/${kept.id}`)).status).toBe(200);
  expect((await givenUidsOf(app.db)).map(({ isStored }) => isStored)).toEqual([false, false]);
});
