import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createKnownStates } from "../../../src/domain/wire/known-states.ts";
import { DAY, shift } from "../../../src/shared/time/clock.ts";
import { users } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let id: number;

beforeAll(async () => {
  app = await createTestApp();
  ({ id } = await app.user("known"));
});
afterAll(() => app.close());

/** Behind the back of the audit log, so that nothing says that the user was touched. */
async function disable(status: "active" | "disabled"): Promise<void> {
  await app.db.update(users).set({ status }).where(eq(users.id, id));
}

describe("createKnownStates()", () => {
  test("read() remembers a user until forget()", async () => {
    const known = createKnownStates(app.services);
    const isOpen = async () => (await known.read([id])).map(({ state }) => state.open);
    expect(await isOpen()).toEqual([true]);
    await disable("disabled");
    expect(await isOpen()).toEqual([true]);
    known.forget([id]);
    expect(await isOpen()).toEqual([false]);
    await disable("active");
    known.forgetAll();
    expect(await isOpen()).toEqual([true]);
  });

  test("read() does not remember what was touched while it was read", async () => {
    const known = createKnownStates(app.services);
    const first = known.read([id]);
    await Promise.resolve();
    known.forget([id]);
    await first;
    await disable("disabled");
    expect((await known.read([id]))[0]?.state.open).toBe(false);
    await disable("active");
  });

  test("read() reads an account again whose time has run out", async () => {
    const known = createKnownStates(app.services);
    const [one] = await known.read([id]);
    const expireAt = new Date(one?.state.expire_at ?? "");
    expect((await known.read([id]))[0]).toBe(one as NonNullable<typeof one>);
    const now = app.clock.now();
    app.clock.set(shift(expireAt, DAY));
    expect((await known.read([id]))[0]?.state.open).toBe(false);
    app.clock.set(now);
  });

  test("read() leaves out who is gone, and answers those who ask at once from one reading", async () => {
    const known = createKnownStates(app.services);
    const answers = await Promise.all([known.read([id, 999_999]), known.read([id]), known.read([])]);
    expect(answers.map((states) => states.map(({ user }) => user))).toEqual([[id], [id], []]);
    expect(answers[0]?.[0]).toBe(answers[1]?.[0] as NonNullable<(typeof answers)[1][0]>);
  });
});
