import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createCompany, getCompany } from "../../../src/domain/companies/companies.ts";
import { finishNarrowings } from "../../../src/domain/companies/narrowing.ts";
import { previewUpdate, updateCompany } from "../../../src/domain/companies/update.ts";
import { uploadKey } from "../../../src/domain/keys/keys.ts";
import { followDueHours } from "../../../src/domain/lifecycle/hours.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { createUser, type NewUser } from "../../../src/domain/users/users.ts";
import { parseHours } from "../../../src/shared/hours/text.ts";
import { users } from "../../../src/store/schema.ts";
import { companies } from "../../../src/store/schema-companies.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let companyId: number;
let count = 0;

const MORNING = parseHours("mon-fri 08:00-12:00 UTC");
const AFTERNOON = parseHours("mon-fri 13:00-18:00 UTC");

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  app.host.failing.clear();
  app.host.sessionsOpen.length = 0;
  await app.db.delete(users);
  await app.db.delete(companies);
  app.host.accounts.clear();
  // A Friday.
  app.clock.set(new Date("2026-11-27T10:00:00Z"));
  companyId = (await createCompany(app.system, { name: "Lindqvist AB" })).row.id;
});

async function make(input: Partial<NewUser> = {}): Promise<{ readonly id: number; readonly username: string }> {
  const username = `worker-${++count}`;
  const { id } = await createUser(app.system, { username, email: `${username}@example.org`, companyId, ...input });
  await uploadKey(app.system, id, { name: "k", publicKey: freshKey() });
  return { id, username };
}
const account = ({ username }: { readonly username: string }) => app.host.accounts.get(`ext_${username}`);
const enter = ({ username }: { readonly username: string }) => {
  const session = { id: `${++count}`, since: app.clock.now(), from: "192.0.2.1", fingerprint: undefined };
  app.host.sessionsOpen.push({ ...session, account: `ext_${username}` });
};

describe("updateCompany() with hours", () => {
  test("shuts at once who is outside of them, and leaves those of no company alone", async () => {
    const inside = await make();
    const other = await make({ companyId: null });
    await updateCompany(app.system, companyId, { hours: AFTERNOON });
    expect(account(inside)).toMatchObject({ open: false, file: [] });
    expect(account(other)?.open).toBe(true);
    expect((await getCompany(app.system, companyId)).isNarrowing).toBe(false);
    app.clock.set(new Date("2026-11-27T13:00:00Z"));
    await followDueHours(app.services, app.config.dataDir);
    expect(account(inside)).toMatchObject({ open: true, expireAt: new Date("2026-11-27T18:00:00Z") });
    const { detail } = await app.lastAudit("company.update");
    expect(detail).toMatchObject({ hours: "mon-fri 13:00-18:00 UTC", old_hours: "" });
  });

  test("count together with those of the user, and open again when they are lifted", async () => {
    const user = await make({ hours: parseHours("fri 09:00-11:00 UTC") });
    await updateCompany(app.system, companyId, { hours: MORNING });
    expect(account(user)).toMatchObject({ open: true, expireAt: new Date("2026-11-27T11:00:00Z") });
    await updateUser(app.system, user.id, { hours: null });
    expect(account(user)).toMatchObject({ open: true, expireAt: new Date("2026-11-27T12:00:00Z") });
    await updateCompany(app.system, companyId, { hours: AFTERNOON });
    expect(account(user)?.open).toBe(false);
    await updateCompany(app.system, companyId, { hours: null });
    expect(account(user)?.open).toBe(true);
  });

  test("are stored although the host fails, and followed by the minute's jobs", async () => {
    const user = await make();
    enter(user);
    app.host.failing.add("shutAccount");
    await updateCompany(app.system, companyId, { hours: AFTERNOON });
    expect(account(user)?.open).toBe(true);
    const [row] = await app.db.select().from(users).where(eq(users.id, user.id));
    expect(row?.companyHours).toBe("mon-fri 13:00-18:00 UTC");
    expect((await app.auditRows("access.window")).at(-1)).toMatchObject({ result: "failed", subjectId: user.id });
  });

  test("reach everybody although the process ended after they were stored", async () => {
    const user = await make();
    const now = app.clock.now();
    await app.db.update(companies).set({ hours: "mon-fri 13:00-18:00 UTC", narrowingSince: now });
    await finishNarrowings(app.services);
    expect(account(user)).toMatchObject({ open: false, file: [] });
    const [company] = await app.db.select().from(companies);
    expect(company?.narrowingSince).toBeNull();
  });

  test("come with the company, and go with it", async () => {
    await updateCompany(app.system, companyId, { hours: AFTERNOON });
    const user = await make();
    expect(account(user)).toMatchObject({ open: false, file: [] });
    await updateUser(app.system, user.id, { companyId: null });
    expect(account(user)?.open).toBe(true);
    await updateUser(app.system, user.id, { companyId });
    expect(account(user)).toMatchObject({ open: false, file: [] });
  });

  test("and users who are created, moved and changed meanwhile end with the company's hours", async () => {
    const many = await Promise.all([make(), make(), make()]);
    const results = await Promise.allSettled([
      updateCompany(app.system, companyId, { hours: AFTERNOON }),
      make(),
      updateUser(app.system, many[0]?.id ?? 0, { companyId: null }),
      updateUser(app.system, many[1]?.id ?? 0, { hours: MORNING }),
      updateCompany(app.system, companyId, { hours: MORNING }),
    ]);
    for (const result of results) if (result.status === "rejected") expect(result.reason.code).toBe("conflict");
    await finishNarrowings(app.services);
    const [company] = await app.db.select().from(companies);
    for (const user of await app.db.select().from(users))
      expect(user.companyHours).toBe(user.companyId === null ? null : (company?.hours as string));
  });

  test("are refused where they cannot be read", async () => {
    const hours = { zone: "Mars/Olympus", windows: MORNING.windows };
    await expect(updateCompany(app.system, companyId, { hours })).rejects.toThrow("Not a time zone");
  });
});

describe("previewUpdate() of hours", () => {
  test("says who is shut at once, and who of them is logged in, and changes nothing", async () => {
    const [one, other] = [await make(), await make({ hours: AFTERNOON })];
    enter(one);
    const { effects, users: concerned } = await previewUpdate(app.system, companyId, { hours: AFTERNOON });
    expect(effects).toEqual([
      "Access of users of Lindqvist AB is open only within mon-fri 13:00-18:00 UTC, and within their own hours.",
      `1 user of Lindqvist AB is outside of them now, and cannot log in until they begin: ${one.username}.`,
      "SSH sessions of theirs that end at once: 1.",
    ]);
    expect(concerned).toBe(1);
    expect(account(one)?.open).toBe(true);
    expect(account(other)?.open).toBe(false);
    expect((await previewUpdate(app.system, companyId, { hours: null })).users).toBe(0);
  });
});
