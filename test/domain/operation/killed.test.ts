/**
 * The process dies at each step of ending a company, and of carrying out a review: nobody has access longer than before, what was stored is
 * finished by the next start or the next job, and the log says each thing once.
 */

import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { verifyAudit } from "../../../src/domain/audit/verify.ts";
import { createCompany } from "../../../src/domain/companies/companies.ts";
import { finishEndings } from "../../../src/domain/companies/ending.ts";
import { uploadKey } from "../../../src/domain/keys/keys.ts";
import { endHold } from "../../../src/domain/lifecycle/heartbeat.ts";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import { workOnReviews } from "../../../src/domain/reviews/due.ts";
import { startReview } from "../../../src/domain/reviews/start.ts";
import { createUser } from "../../../src/domain/users/users.ts";
import { DAY, shift } from "../../../src/shared/time/clock.ts";
import type { FaultPoint } from "../../../src/shared/work/fault-point.ts";
import { closings, users } from "../../../src/store/schema.ts";
import { companies } from "../../../src/store/schema-companies.ts";
import { reviews } from "../../../src/store/schema-reviews.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { HANG } from "../../support/hang.ts";
import { freshKey } from "../../support/keys.ts";
import { killAt, tracePasses } from "../../support/killed.ts";
import type { Deed } from "../../support/killed-driver.ts";
import { testSlow } from "../../support/thorough.ts";

let app: TestApp;
let directory: string;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  directory = mkdtempSync(join(tmpdir(), "uam-killed-"));
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true });
});

/** A company of two users, each with a key. */
interface Scene {
  readonly company: number;
  readonly users: readonly { readonly id: number; readonly username: string }[];
  readonly review: number;
  /** The number of the last record before the deed. */
  readonly since: number;
}

async function scene(): Promise<Scene> {
  const { row } = await createCompany(app.system, { name: `Lindqvist ${++count}` });
  const made = [];
  for (const which of ["a", "b"]) {
    const username = `user-${count}-${which}`;
    const user = await createUser(app.system, { username, email: `${username}@example.org`, companyId: row.id });
    await uploadKey(app.system, user.id, { name: "laptop", publicKey: freshKey() });
    made.push({ id: user.id, username });
  }
  const review = await startReview(app.system, { scope: { company: row.id }, dueDays: 1, unanswered: "disable" });
  const since = (await app.auditRows()).at(-1)?.id ?? 0;
  return { company: row.id, users: made, review: review.row.id, since };
}

/** What a user has, stored and on the host. */
async function accessOf({ users: people }: Scene) {
  const states = people.map(async ({ id, username }) => {
    const [row] = await app.db.select().from(users).where(eq(users.id, id));
    const account = app.host.accounts.get(`ext_${username}`);
    return {
      status: row?.status,
      end: Math.min(row?.expireAt.getTime() ?? 0, account?.expireAt.getTime() ?? 0),
      open: account?.open === true && account.file.length > 0,
    };
  });
  return await Promise.all(states);
}

/** The service starts, which looks at the host first; or the jobs of two minutes come by, which do that last. */
async function goOn(byStart: boolean): Promise<void> {
  const reconcile = () => reconcileHost(app.services, directory, "repair");
  const work = async () => {
    await finishEndings(app.services);
    await workOnReviews(app.services, await endHold(app.services));
  };
  if (!byStart) await work();
  await reconcile();
  await work();
}

/** What the log says of this scene since the deed, and how often; a review is closed by whoever comes to it last. */
async function recorded({ since, company, review, users: people }: Scene): Promise<Readonly<Record<string, number>>> {
  const ids: Readonly<Record<string, number>> = { company, review };
  const said: Record<string, number> = {};
  for (const { id, action, actor, result, resourceId, subjectId } of await app.auditRows()) {
    const [kind] = action.split(".");
    const isOurs =
      kind === "user" ? people.some((user) => user.id === subjectId) : Number(resourceId) === ids[kind ?? ""];
    if (id <= since || !isOurs) continue;
    const what = `${action}${action === "review.close" ? "" : ` by ${actor}`}${result === "success" ? "" : ", failed"}`;
    said[what] = (said[what] ?? 0) + 1;
  }
  return said;
}

interface Case {
  readonly deed: (scene: Scene) => Deed;
  /** Moves the clock to where it is done. */
  readonly at?: () => void;
  /** Whether it is stored that it is to be done: from then on it is only finished. */
  readonly isStored: (scene: Scene) => Promise<boolean>;
  /** The log once it is done. Nothing else is in it. */
  readonly said: Readonly<Record<string, number>>;
  readonly done: (scene: Scene, before: Awaited<ReturnType<typeof accessOf>>) => Promise<void>;
}

const reviewOf = async ({ review }: Scene) => (await app.db.select().from(reviews).where(eq(reviews.id, review)))[0];
const wasRecorded = (action: string) => async (scene: Scene) =>
  Object.keys(await recorded(scene)).some((what) => what.startsWith(`${action} by`));

async function areShut(scene: Scene): Promise<void> {
  for (const { status, open } of await accessOf(scene))
    expect({ status, open }).toEqual({ status: "disabled", open: false });
}

async function isOver(scene: Scene): Promise<void> {
  await areShut(scene);
  expect((await reviewOf(scene))?.status).toBe("closed");
}

const CASES: Readonly<Record<string, Case>> = {
  "the end of a company": {
    deed: ({ company }) => ({ deed: "end a company", company }),
    isStored: async ({ company }) => {
      const [row] = await app.db.select().from(companies).where(eq(companies.id, company));
      return row?.status !== "active";
    },
    said: { "company.end by asker": 1, "user.disable by asker": 2 },
    done: async (scene) => {
      await areShut(scene);
      const [row] = await app.db.select().from(companies).where(eq(companies.id, scene.company));
      expect(row?.status).toBe("ended");
    },
  },
  "answers in a review": {
    deed: ({ review, users: [one, two] }) => ({
      ...{ deed: "answer", review },
      answers: [
        { userId: one?.id ?? 0, answer: "end", reason: "Left" },
        { userId: two?.id ?? 0, answer: "shorten", reason: "Left", until: shift(app.clock.now(), 3 * DAY) },
      ],
    }),
    isStored: wasRecorded("review.answer"),
    said: {
      ...{ "review.answer by asker": 2, "user.disable by asker": 1, "user.shorten by asker": 1 },
      "review.close": 1,
    },
    done: async (scene) => {
      const [one, two] = await accessOf(scene);
      expect(one).toMatchObject({ status: "disabled", open: false });
      expect(two).toMatchObject({ status: "active", open: true, end: shift(app.clock.now(), 3 * DAY).getTime() });
      expect((await reviewOf(scene))?.status).toBe("closed");
    },
  },
  "the day of a review": {
    deed: () => ({ deed: "the day of a review" }),
    at: () => app.clock.advance(DAY),
    // It is done by itself: whatever was stored, the next job does it.
    isStored: async () => true,
    said: { "review.unanswered by system": 2, "user.disable by system": 2, "review.close": 1 },
    done: isOver,
  },
  "a review that is closed by hand": {
    deed: ({ review }) => ({ deed: "close a review", review }),
    isStored: wasRecorded("review.unanswered"),
    said: { "review.unanswered by asker": 2, "user.disable by asker": 2, "review.close": 1 },
    done: isOver,
  },
};

async function dieAt({ deed, at, isStored, said, done }: Case, point: FaultPoint, nth: number): Promise<void> {
  const made = await scene();
  at?.();
  const before = await accessOf(made);
  expect(await killAt(app, deed(made), point, nth)).toBe(true);
  for (const [index, { end, open }] of (await accessOf(made)).entries()) {
    expect(end).toBeLessThanOrEqual(before[index]?.end ?? 0);
    if (open) expect(before[index]?.open).toBe(true);
  }
  const stored = await isStored(made);
  await goOn(nth % 2 === 1);
  const found = await recorded(made);
  expect(await app.db.select().from(closings)).toEqual([]);
  if (!stored) {
    expect(found).toEqual({});
    expect(await accessOf(made)).toEqual(before);
    return;
  }
  expect(found).toEqual(said);
  await done(made, before);
  await goOn(true);
  expect(await recorded(made)).toEqual(said);
}

testSlow.each(Object.keys(CASES))(
  "%s is finished after a crash at any of its steps, once, and lets nobody in meanwhile",
  async (name) => {
    const one = CASES[name] as Case;
    // What an earlier case has left open.
    app.clock.advance(2 * DAY);
    await goOn(true);
    const traced = await scene();
    one.at?.();
    const passes = await tracePasses(app, one.deed(traced));
    expect(await recorded(traced)).toEqual(one.said);
    await one.done(traced, []);
    expect(passes.length).toBeGreaterThan(10);
    const seen = new Map<FaultPoint, number>();
    const faults: string[] = [];
    for (const point of passes) {
      const nth = (seen.get(point) ?? 0) + 1;
      seen.set(point, nth);
      await dieAt(one, point, nth).catch((error: unknown) => faults.push(`${point}, ${nth}: ${error}`));
    }
    expect(faults).toEqual([]);
    expect((await verifyAudit(app.services)).fault).toBeUndefined();
  },
  20 * HANG,
);
