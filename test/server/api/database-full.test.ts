/** What callers are told while the disk of the database is full. That a server then says 53100, test/host/faults.host.test.ts shows. */

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { finishClosings } from "../../../src/domain/lifecycle/finish.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";

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
