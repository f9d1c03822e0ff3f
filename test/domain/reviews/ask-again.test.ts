/** A backup is restored in the middle of something that takes access away: it goes on, or who answered since is asked again. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createCompany } from "../../../src/domain/companies/companies.ts";
import { endCompany } from "../../../src/domain/companies/ending.ts";
import { decide, lookAt } from "../../../src/domain/decisions/decisions.ts";
import { beat } from "../../../src/domain/lifecycle/heartbeat.ts";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import { usersWithoutAccess, withAccess } from "../../../src/domain/lifecycle/reopened-by-restore.ts";
import { readReview } from "../../../src/domain/reviews/reviews.ts";
import { startReview } from "../../../src/domain/reviews/start.ts";
import { createUser, disableUser } from "../../../src/domain/users/users.ts";
import { DAY, HOUR } from "../../../src/shared/time/clock.ts";
import { users } from "../../../src/store/schema.ts";
import { companies } from "../../../src/store/schema-companies.ts";
import { createWorld, type World } from "../../long/year/world.ts";
import { describeSlow, testSlow } from "../../support/thorough.ts";

const SPONSOR = "bo@example.net";
let world: World;

beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const isOpen = (username: string) => {
  const account = world.host.accounts.get(`ext_${username}`);
  return account?.open === true && account.expireAt > world.clock.now();
};
const anybody = () => ({ ...world.operator(), actor: { type: "anonymous", name: "", ip: "192.0.2.7" } as const });
const actions = async (action: string) => {
  const rows = await world
    .services()
    .db.execute<{ detail: string }>(
      `select detail from audit where action = '${action}' and result = 'success' order by id`,
    );
  return rows.map(({ detail }) => JSON.parse(detail) as Record<string, unknown>);
};

/** The newest link in a review. */
async function reviewLink() {
  await world.work();
  return world.links.filter(({ kind }) => kind === "review").at(-1)?.token ?? "";
}

/** Time in which the service runs. */
async function pass(time: number) {
  for (let left = time; left > 0; left -= HOUR) {
    world.clock.advance(HOUR);
    await beat(world.services());
  }
  await world.work();
}

async function threeUsers(companyId: number | null = null) {
  const made = [];
  for (const username of ["ada", "ben", "cleo"]) {
    const fields = { username, email: `${username}@example.org`, sponsorEmail: SPONSOR, companyId };
    made.push(await createUser(world.operator(), fields));
  }
  return made.map(({ id }) => id) as [number, number, number];
}

describeSlow("a review", () => {
  async function begun() {
    const [ada, ben, cleo] = await threeUsers();
    const due = { dueDays: 5, unanswered: "disable" } as const;
    const { row } = await startReview(world.operator(), { scope: "all", ...due });
    const link = await reviewLink();
    await world.backUp();
    const reason = "Known";
    await decide(anybody(), link, [
      { id: ada, answer: "end", reason },
      { id: ben, answer: "keep", reason },
    ]);
    expect(["ada", "ben", "cleo"].map(isOpen)).toEqual([false, true, true]);
    return { id: row.id, ada, ben, cleo, link };
  }

  test("has its answers again: the sponsor is asked by a new link, and who is not answered for loses access", async () => {
    const { id, ada, ben, link } = await begun();
    await world.setBack();
    expect(await actions("service.restore")).toMatchObject([{ open_reviews: 1, reopened: 1 }]);
    const again = await reviewLink();
    expect(again).not.toBe(link);
    await expect(lookAt(anybody(), link)).rejects.toMatchObject({ reason: "decision.missing" });
    expect((await lookAt(anybody(), again)).items.map((item) => item.username)).toEqual(["ada", "ben", "cleo"]);
    expect(isOpen("ada")).toBe(true);
    const reason = "Known";
    await decide(anybody(), again, [
      { id: ada, answer: "end", reason },
      { id: ben, answer: "keep", reason },
    ]);
    await pass(5 * DAY + HOUR);
    expect(["ada", "ben", "cleo"].map(isOpen)).toEqual([false, true, false]);
    const { counts } = await readReview(world.services().db, id);
    expect(counts).toMatchObject({ kept: 1, ended: 1, unanswered: 1 });
  });

  test("whose day has come meanwhile waits for a day, and nobody whom the new link keeps loses access", async () => {
    const { ben } = await begun();
    await pass(5 * DAY + HOUR);
    expect(["ada", "ben", "cleo"].map(isOpen)).toEqual([false, true, false]);
    await world.setBack();
    const again = await reviewLink();
    await pass(20 * HOUR);
    expect(["ada", "ben", "cleo"].map(isOpen)).toEqual([true, true, true]);
    await decide(anybody(), again, [{ id: ben, answer: "keep" }]);
    await pass(5 * HOUR);
    expect(["ada", "ben", "cleo"].map(isOpen)).toEqual([false, true, false]);
  });
});

testSlow("a narrowing that the backup has begun is carried out, in the name of whoever asked", async () => {
  const { row } = await createCompany(world.operator(), { name: "Lindqvist" });
  await threeUsers(row.id);
  const { db } = world.services();
  const end = new Date(world.clock.now().getTime() + 3 * DAY);
  const by = { narrowingByType: "admin", narrowingBy: "root-admin" } as const;
  const narrowed = { contractEnd: end, narrowingSince: world.clock.now(), narrowingEnd: end, ...by };
  await db.update(companies).set(narrowed).where(eq(companies.id, row.id));
  await world.backUp();
  await world.work();
  await world.setBack();
  await world.work();
  const ends = await world.services().db.select({ at: users.expireAt }).from(users);
  expect(ends).toEqual([{ at: end }, { at: end }, { at: end }]);
  expect(world.host.accounts.values().every(({ expireAt }) => expireAt <= end)).toBe(true);
});

describeSlow("the end of a company", () => {
  test("that the backup has begun is carried out, also if it was resumed since", async () => {
    const { row } = await createCompany(world.operator(), { name: "Lindqvist" });
    await threeUsers(row.id);
    const ending = { status: "ending", askedByType: "admin", askedBy: "root-admin" } as const;
    await world.services().db.update(companies).set(ending).where(eq(companies.id, row.id));
    await world.backUp();
    await world.services().db.update(companies).set({ status: "active" }).where(eq(companies.id, row.id));
    await world.setBack();
    await world.work();
    expect(["ada", "ben", "cleo"].map(isOpen)).toEqual([false, false, false]);
    expect((await actions("user.disable")).map(({ reason }) => reason)).toEqual(["company", "company", "company"]);
  });

  test("that came after the backup is undone, and the host says who has access again before they do", async () => {
    const { row } = await createCompany(world.operator(), { name: "Lindqvist" });
    const [ada] = await threeUsers(row.id);
    await disableUser(world.operator(), ada);
    await world.backUp();
    await endCompany(world.operator(), row.id);
    const without = await usersWithoutAccess(world.services().db);
    expect([...without].sort()).toEqual(["ada", "ben", "cleo"]);
    await world.setBack();
    expect(await withAccess(world.services().db, without)).toEqual(["ben", "cleo"]);
    expect(await actions("service.restore")).toMatchObject([{ reopened: 2 }]);
    const drifts = await reconcileHost(world.services(), "/nonexistent", "check");
    expect(drifts.map(({ account }) => account).sort()).toEqual(["ext_ben", "ext_cleo"]);
    expect(["ada", "ben", "cleo"].map(isOpen)).toEqual([false, false, false]);
  });
});
