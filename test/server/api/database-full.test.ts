/** What callers are told while the disk of the database is full. That a server then says 53100, test/host/faults.host.test.ts shows. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { reconcileHost } from "../../../src/domain/lifecycle/reconcile.ts";
import type { Reserve } from "../../../src/shared/work/reserve.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;
let id: number;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
  ({ id } = await app.user("roomy"));
  await app.alter(`create function no_room() returns trigger language plpgsql as
    $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`);
});
afterEach(() => app.alter("drop trigger if exists full_disk on users; drop trigger if exists full_disk on audit"));
afterAll(() => app.close());

const fill = (table: string) =>
  app.alter(`create trigger full_disk before insert or update on ${table} for each row execute function no_room()`);

test("a change that could be recorded as failed says what is to be done, and by whom", async () => {
  await fill("users");
  const answer = await admin.call("POST", "/users", { username: "another", email: "a@example.org" });
  expect([answer.status, answer.headers.get("uam-error"), answer.headers.get("retry-after")]).toEqual([
    400,
    "database.full",
    "60",
  ]);
  expect(answer.body.error).toContain("disk of the database is full");
  expect(app.host.accounts.has("ext_another")).toBe(false);
  expect((await app.lastAudit("user.create")).result).toBe("failed");
});

test("one that could not says so, too, or that it goes on by itself; what only reads is answered", async () => {
  await fill("audit");
  const extended = await admin.call("POST", `/users/${id}/extend`, {});
  expect([extended.status, extended.headers.get("uam-error")]).toEqual([500, "audit.unrecorded"]);
  expect(extended.body.error).toContain("its disk is full; make room on it");
  const disabled = await admin.call("POST", `/users/${id}/disable`);
  expect([disabled.status, disabled.headers.get("uam-error")]).toEqual([500, "access.owed"]);
  expect((await admin.call("GET", "/users")).status).toBe(200);
  await app.alter("drop trigger full_disk on audit");
  await finishClosings(app.services, "all");
  expect((await app.lastAudit("user.disable")).result).toBe("success");
  expect(app.host.accounts.get("ext_roomy")?.open).toBe(false);
});

describe("with a reserve", () => {
  /** How often it was given up. */
  let given: number;
  let isInUse: boolean;
  const reserve: Reserve = { release: () => ++given <= 4, isInUse: () => isInUse, lay() {} };

  beforeAll(() =>
    app.alter(`create sequence refusals; grant all on sequence refusals to public;
      create function little_room() returns trigger language plpgsql as $$ begin
        if nextval('public.refusals') <= 4 then raise exception 'No space left on device' using errcode = '53100'; end if;
        return new; end $$`),
  );
  /** The log has no room for two operations with their failures, and then it has. */
  const fillForTwo = () =>
    app.alter(`alter sequence refusals restart;
      create trigger full_disk before insert on audit for each row execute function little_room()`);
  async function withReserve(work: () => Promise<void>): Promise<void> {
    [given, isInUse] = [0, false];
    Object.assign(app.services, { reserve });
    try {
      await work();
    } finally {
      Object.assign(app.services, { reserve: undefined });
    }
  }
  const recorded = async (action: string) => {
    const { body } = await admin.call("GET", `/audit?action=${action}`);
    return body.data.items.map(({ result }: { readonly result: string }) => result);
  };

  test("an administrator disables a user, which is recorded once, and as much is given up as it takes", () =>
    withReserve(async () => {
      const user = await app.user("squeezed");
      const before = await recorded("user.disable");
      await fillForTwo();
      const answer = await admin.call("POST", `/users/${user.id}/disable`);
      expect([answer.status, given]).toEqual([200, 2]);
      expect(await recorded("user.disable")).toEqual(["success", ...before]);
      expect(app.host.accounts.get("ext_squeezed")?.open).toBe(false);
    }));

  test("an administrator revokes a token", () =>
    withReserve(async () => {
      const made = await admin.call("POST", "/tokens", {
        ...{ name: "machine", role: "auditor", days: 1 },
        password: ADMIN_PASSWORD,
      });
      expect(made.status).toBe(201);
      await fillForTwo();
      const answer = await admin.call("DELETE", `/tokens/${made.body.data.id}`);
      expect([answer.status < 300, given]).toEqual([true, 2]);
      expect((await recorded("token.revoke")).slice(0, 2)).toEqual(["success"]);
    }));

  test("nothing is given up for what an account's owner asks, or causes", () =>
    withReserve(async () => {
      const user = await app.user("greedy");
      await app.alter("create trigger full_disk before insert on audit for each row execute function no_room()");
      expect((await user.client.call("POST", "/me/lock")).headers.get("uam-error")).toBe("access.owed");
      app.host.drifts.push({ account: "ext_greedy", kind: "key_file", problem: "its content differs", repaired: true });
      await reconcileHost(app.services, "/nonexistent", "repair at once");
      expect(given).toBe(0);
    }));

  test("while it is in use no access is given, and access can be taken away", () =>
    withReserve(async () => {
      const user = await app.user("waiting");
      isInUse = true;
      const created = await admin.call("POST", "/users", { username: "later", email: "a@example.org" });
      const extended = await admin.call("POST", `/users/${user.id}/extend`, {});
      for (const answer of [created, extended]) {
        expect([answer.headers.get("uam-error"), answer.headers.get("retry-after")]).toEqual(["database.full", "60"]);
        expect(answer.body.error).toContain("disk of the database is full");
      }
      expect(app.host.accounts.has("ext_later")).toBe(false);
      expect((await admin.call("POST", `/users/${user.id}/disable`)).status).toBe(200);
      expect((await admin.call("POST", `/users/${user.id}/enable`)).status).toBeGreaterThanOrEqual(400);
      isInUse = false;
      expect((await admin.call("POST", `/users/${user.id}/enable`)).status).toBe(200);
    }));
});
