import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { printCode } from "../../../src/domain/auth/codes/otp.ts";
import { expireDue, recycleDue } from "../../../src/domain/lifecycle/lifecycle.ts";
import { day } from "../../../src/domain/mail/letter.ts";
import {
  type Telling,
  tellDeleted,
  tellDisabled,
  tellEnabled,
  tellExtended,
} from "../../../src/domain/mail/notices.ts";
import { shownServerKey, siteWithKeys } from "../../../src/domain/mail/site.ts";
import { createProfile } from "../../../src/domain/profiles/profiles.ts";
import { extendUser } from "../../../src/domain/users/extend.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { createUser, deleteUser, disableUser, enableUser } from "../../../src/domain/users/users.ts";
import { DAY, MINUTE } from "../../../src/shared/time/clock.ts";
import { outbox, type UserRow, users } from "../../../src/store/schema.ts";
import { createTestApp, loginUser, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;

beforeAll(async () => {
  app = await createTestApp({ UAM_SSH_HOST: "ssh.example.org:2222", UAM_CONTACT: "help@example.org" });
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.db.delete(users);
  await app.db.delete(outbox);
  app.host.accounts.clear();
  app.clock.advance(2 * MINUTE);
});

const anna = { username: "anna", email: "anna@example.org", ttlDays: 20 };
const told = (recipient: string) => app.mails(recipient);
const subjects = async (recipient: string) => (await told(recipient)).map(({ subject }) => subject);
const tell = (work: (op: Telling) => Promise<void>) => app.db.transaction((tx) => work({ tx, context: app.services }));
const stored = async (id: number): Promise<UserRow | undefined> =>
  (await app.db.select().from(users).where(eq(users.id, id)))[0];

const CONNECT = "ssh -p 2222 ext_anna@ssh.example.org";
const WELCOME = "Your account on ssh.example.org";
const ENABLED = "Your account on ssh.example.org is enabled again";
const SET = "This is now the address of your account on ssh.example.org";
const REMOVED = "Mail about your account on ssh.example.org now goes to another address";

describe("createUser()", () => {
  test("welcomes whom a profile binds with the command that fits, and so does each later mail", async () => {
    await createProfile(app.system, { name: "drop-box", kind: "sftp", directory: "/srv/drop" });
    const { id } = await createUser(app.system, { ...anna, profile: "drop-box" });
    await disableUser(app.system, id);
    await enableUser(app.system, id);
    const { expireAt } = await extendUser(app.system, id, 10);
    await updateUser(app.system, id, { email: "anna@new.example.org" });
    const mails = [...(await told("anna@example.org")), ...(await told("anna@new.example.org"))];
    const connecting = mails.filter(({ text }) => text.includes("ext_anna@"));
    expect(connecting.map(({ subject }) => subject).sort()).toEqual(
      [WELCOME, `Your account on ssh.example.org now lasts until ${day(expireAt)}`, ENABLED, SET, WELCOME].sort(),
    );
    for (const { text } of connecting) expect(text).toContain("sftp -P 2222 ext_anna@ssh.example.org");
    for (const { text } of mails) expect(text).not.toContain(CONNECT);
  });

  test("welcomes with the ssh command, the host keys, the end of access and whom to ask", async () => {
    await createUser(app.system, anna);
    const [mail] = await told("anna@example.org");
    for (const part of [
      CONNECT,
      ...(await app.host.hostKeys()).map(shownServerKey),
      "UTC",
      "Write to help@example.org.",
    ]) {
      expect(mail?.text).toContain(part);
    }
  });

  test("says the hours, the start and how to ask, as they are stored", async () => {
    const hours = { zone: "Europe/Berlin", windows: [{ days: ["mon"], from: "08:00", to: "18:00" }] } as const;
    const startsAt = new Date(app.clock.now().getTime() + DAY);
    await createUser(app.system, { ...anna, hours, startsAt, onRequest: { rule: "review", maxHours: 4 } });
    const [mail] = await told("anna@example.org");
    expect(mail?.text).toMatch(/Starts: {6}.* Europe\/Berlin\n {2}Hours: {7}mon 08:00-18:00 Europe\/Berlin\n/);
    expect(mail?.text).toContain("3. Ask for access, each time");
  });
});

describe("siteWithKeys()", () => {
  test("names no fingerprints where the host does not give them", async () => {
    const host = { ...app.host, hostKeys: () => Promise.reject(new Error("no sshd")) };
    expect(await siteWithKeys({ ...app.services, host })).toEqual({ ...app.services.policy.site, hostKeys: [] });
  });
});

describe("tellExtended(), tellEnabled()", () => {
  test.each([
    ["extended", tellExtended],
    ["enabled", tellEnabled],
  ])("%s: how to connect and until when, and the time of the mail is noted", async (_what, notice) => {
    const user = await createUser(app.system, anna);
    await app.db.delete(outbox);
    app.clock.advance(DAY);
    await tell((op) => notice(op, user));
    const [mail] = await told("anna@example.org");
    expect(mail?.text).toContain(CONNECT);
    expect(mail?.text).toContain("Until:");
    expect((await stored(user.id))?.expiryMailedAt).toEqual(app.clock.now());
  });
});

describe("tellDisabled(), tellDeleted()", () => {
  test("tellDisabled() mails once for each time, however often the host is tried", async () => {
    const user = await createUser(app.system, anna);
    await app.db.delete(outbox);
    const disabled = { ...user, status: "disabled", disabledAt: app.clock.now() } as const;
    for (let times = 0; times < 3; times++) await tell((op) => tellDisabled(op, disabled, "A key came back."));
    expect(await subjects("anna@example.org")).toEqual(["Your account on ssh.example.org is disabled"]);
    expect((await told("anna@example.org"))[0]?.text).toContain("A key came back.");
    app.clock.advance(DAY);
    await tell((op) => tellDisabled(op, { ...disabled, disabledAt: app.clock.now() }));
    expect(await told("anna@example.org")).toHaveLength(2);
  });

  test("tellDeleted() mails once, also when the user is gone", async () => {
    const user = await createUser(app.system, anna);
    await app.db.delete(outbox);
    await app.db.delete(users);
    for (let times = 0; times < 2; times++) await tell((op) => tellDeleted(op, user));
    expect(await subjects("anna@example.org")).toEqual(["Your account on ssh.example.org is deleted"]);
  });
});

describe("what is done to a user", () => {
  test("is mailed: disabled, enabled, extended, deleted, once each", async () => {
    const { id } = await createUser(app.system, anna);
    await app.db.delete(outbox);
    await disableUser(app.system, id);
    await disableUser(app.system, id);
    await enableUser(app.system, id);
    await enableUser(app.system, id);
    const { expireAt } = await extendUser(app.system, id, 10);
    await deleteUser(app.system, id);
    expect(await subjects("anna@example.org")).toEqual([
      "Your account on ssh.example.org is disabled",
      "Your account on ssh.example.org is enabled again",
      `Your account on ssh.example.org now lasts until ${day(expireAt)}`,
      "Your account on ssh.example.org is deleted",
    ]);
  });

  test("is not mailed where it is refused, or not yet done", async () => {
    const { id } = await createUser(app.system, anna);
    await disableUser(app.system, id);
    await app.db.delete(outbox);
    app.host.failing.add("openAccount");
    await expect(enableUser(app.system, id)).rejects.toThrow();
    app.host.failing.clear();
    expect(await subjects("anna@example.org")).toEqual([]);
    app.host.failing.add("removeAccount");
    await expect(deleteUser(app.system, id)).rejects.toThrow();
    app.host.failing.clear();
    expect(await subjects("anna@example.org")).toEqual([]);
  });

  test("is mailed at the end of the recycle period, too", async () => {
    await createUser(app.system, anna);
    app.clock.advance(20 * DAY);
    const time = { now: app.clock.now(), holdUntil: undefined };
    await expireDue(app.system, time);
    app.clock.advance(30 * DAY);
    await recycleDue(app.system, { ...time, now: app.clock.now() });
    expect((await subjects("anna@example.org")).slice(1)).toEqual([
      "Your access to ssh.example.org has ended",
      "Your account on ssh.example.org is deleted",
    ]);
  });
});

describe("updateUser() with another address", () => {
  test("mails the old and the new address, and welcomes a user who never logged in", async () => {
    const { id } = await createUser(app.system, anna);
    await updateUser(app.system, id, { email: "new@example.org" });
    expect(await subjects("anna@example.org")).toEqual([WELCOME, REMOVED]);
    expect(await subjects("new@example.org")).toEqual([SET, WELCOME]);
    for (const { text } of await told("new@example.org")) expect(text).toContain(CONNECT);
  });

  test("welcomes nobody who logged in, has a key, or is disabled", async () => {
    const { id } = await createUser(app.system, anna);
    await loginUser(app.system, app.app, "anna");
    expect((await stored(id))?.lastLoginAt).toEqual(app.clock.now());
    await updateUser(app.system, id, { email: "second@example.org" });
    expect(await subjects("second@example.org")).toEqual([SET]);

    // As for somebody who logged in before logins were noted.
    const older = await createUser(app.system, { ...anna, username: "older", email: "older@example.org" });
    const olderClient = await loginUser(app.system, app.app, "older");
    const key = freshKey();
    expect((await olderClient.call("POST", "/me/keys", { name: "k", public_key: key })).status).toBe(201);
    await app.db.update(users).set({ lastLoginAt: null }).where(eq(users.id, older.id));
    await updateUser(app.system, older.id, { email: "third@example.org" });
    expect(await subjects("third@example.org")).toEqual([SET]);

    const shut = await createUser(app.system, { ...anna, username: "shut", email: "shut@example.org" });
    await disableUser(app.system, shut.id);
    await updateUser(app.system, shut.id, { email: "fourth@example.org" });
    expect(await subjects("fourth@example.org")).toEqual([SET]);
    expect((await told("fourth@example.org"))[0]?.text).not.toContain("ssh ");
  });

  test("mails nobody where the address stays", async () => {
    const { id } = await createUser(app.system, anna);
    await app.db.delete(outbox);
    await updateUser(app.system, id, { email: "anna@example.org", purpose: "Another" });
    expect(await app.mails()).toEqual([]);
  });

  test("mails nobody where it fails", async () => {
    const { id } = await createUser(app.system, anna);
    await app.db.delete(outbox);
    await expect(updateUser(app.system, id, { email: "b@example.org", supervisor: "x".repeat(129) })).rejects.toThrow();
    expect(await app.mails()).toEqual([]);
  });

  test("voids a code that went to the old address", async () => {
    const { id } = await createUser(app.system, anna);
    const { code } = await printCode(app.system, "anna");
    await updateUser(app.system, id, { email: "new@example.org" });
    const answer = await app.anonymous().call("POST", "/auth/otp/login", { username: "anna", code });
    expect(answer.status).toBe(401);
  });
});

describe("a login with a code", () => {
  test("does not wait for a change of the user that takes long", async () => {
    const { id } = await createUser(app.system, anna);
    const holding = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const change = app.db.transaction(async (tx) => {
      await tx.select().from(users).where(eq(users.id, id)).for("update");
      holding.resolve();
      await release.promise;
    });
    await holding.promise;
    await loginUser(app.system, app.app, "anna");
    release.resolve();
    await change;
    expect((await stored(id))?.lastLoginAt).toBeNull();
  });
});
