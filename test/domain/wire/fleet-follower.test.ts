import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import { disableUser, enableUser } from "../../../src/domain/users/users.ts";
import { createFleetFollower, type FleetFollower, FRESH } from "../../../src/domain/wire/fleet-follower.ts";
import type { News } from "../../../src/domain/wire/held-requests.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { until } from "../../support/until.ts";

let app: TestApp;
let follower: FleetFollower;
let told: News[];
let goOn: () => void;
let isSlow = false;
/** What `performance.now` is ahead by. */
let ahead = 0;
const real = performance.now.bind(performance);
const now = spyOn(performance, "now").mockImplementation(() => real() + ahead);

beforeAll(async () => {
  app = await createTestApp();
});

beforeEach(async () => {
  told = [];
  follower = createFleetFollower(app.services, {
    news: async (news) => {
      told.push(news);
      if (!isSlow) return;
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    },
    anotherHistory: () => {},
  });
  expect(await follower.isFresh()).toBe(true);
});

afterAll(async () => {
  now.mockRestore();
  await app.close();
});

async function stop(): Promise<void> {
  const stopping = follower.stop();
  goOn();
  await stopping;
}

/** A change of one record, of which hosts are being told from now on. */
async function change(name: string): Promise<number> {
  isSlow = false;
  const { id } = await app.user(name);
  await follower.look();
  isSlow = true;
  told = [];
  await disableUser(app.system, id);
  await until(() => told.length === 1);
  return id;
}

test("the head stays fresh while hosts are told for longer than it is", async () => {
  await change("alice");
  const head = follower.head();
  expect(await follower.isFresh()).toBe(true);
  ahead += 2 * FRESH;
  expect(await follower.isFresh()).toBe(true);
  expect(follower.head()).toEqual(head);
  await stop();
});

test("a head is not fresh that is no longer the newest, until the hosts have been told of it and the next is read", async () => {
  const id = await change("bob");
  const head = follower.head();
  await enableUser(app.system, id);
  ahead += 2 * FRESH;
  expect(await follower.isFresh()).toBe(false);
  expect(follower.head()).toEqual(head);
  goOn();
  await until(() => told.length === 2);
  expect(await follower.isFresh()).toBe(true);
  expect(follower.head().id).toBeGreaterThan(head.id);
  await stop();
});
