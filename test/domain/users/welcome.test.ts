import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { importUsers } from "../../../src/domain/users/import/import-users.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { disableUser } from "../../../src/domain/users/users.ts";
import { listUnwelcomed, welcomeUser } from "../../../src/domain/users/welcome.ts";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { outbox } from "../../../src/store/schema.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;
let count = 0;
let id: number;
let email: string;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  app.clock.advance(MINUTE);
  admin = await app.admin();
  email = `w${++count}@example.org`;
  const file = new TextEncoder().encode(`username,email\nw${count},${email}\n`);
  const { created } = await importUsers(app.system, file, { mail: false });
  id = created[0]?.id ?? 0;
});

const mails = async (to = email) =>
  (await app.db.select({ subject: outbox.subject }).from(outbox).where(eq(outbox.recipient, to))).map(
    ({ subject }) => subject,
  );
const record = async () => (await admin.call("GET", `/users/${id}`)).body.data;
const sentence = async (work: Promise<unknown>) =>
  await work.then(
    () => "",
    ({ message }: Error) => message,
  );

describe("welcomeUser", () => {
  test("sends the welcome that an import kept back, once", async () => {
    expect(await mails()).toEqual([]);
    expect(await record()).toMatchObject({ welcome: "pending" });
    expect((await admin.call("GET", "/users?welcome=pending")).body.data.items[0]).toMatchObject({ id });
    expect((await app.lastAudit("user.create")).detail).toMatchObject({ welcome: "pending" });
    expect((await admin.call("POST", `/users/${id}/welcome`)).body).toEqual({ data: { status: "welcomed" } });
    expect(await mails()).toHaveLength(1);
    expect(await record()).toMatchObject({ welcome: "sent" });
    const again = await admin.call("POST", `/users/${id}/welcome`);
    expect([again.status, again.headers.get("uam-error")]).toEqual([409, "user.welcomed"]);
    expect(await mails()).toHaveLength(1);
  });

  test("of several at once sends one", async () => {
    const all = await Promise.allSettled([1, 2, 3, 4].map(() => welcomeUser(app.system, id)));
    expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await mails()).toHaveLength(1);
  });

  test("tells nobody of access that they do not have", async () => {
    await disableUser(app.system, id);
    expect(await sentence(welcomeUser(app.system, id))).toContain("is disabled");
    expect((await listUnwelcomed(app.system)).map((user) => user.id)).not.toContain(id);
    await admin.call("POST", `/users/${id}/enable`);
    await welcomeUser(app.system, id);
    expect(await record()).toMatchObject({ welcome: "sent" });
  });

  test("waits through a change of the address, and goes to the new one", async () => {
    const fresh = `new-${email}`;
    await updateUser(app.system, id, { email: fresh });
    const before = await mails(fresh);
    expect(before.some((subject) => subject.startsWith("Your account on "))).toBe(false);
    await welcomeUser(app.system, id);
    expect((await mails(fresh)).length).toBe(before.length + 1);
  });
});
