/** A user's full name, and the note that administrators keep for each other. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { type Client, createTestApp, loginUser, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;
let me: Client;
let name: string;
let id: number;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  app.clock.advance(2 * MINUTE);
  admin = await app.admin();
  name = `words-${++count}`;
  ({ id, client: me } = await app.user(name));
});

const lastDetail = async () => (await app.lastAudit("user.update")).detail;

describe("full_name and note", () => {
  test("are stored, trimmed and in NFC, with the old values on record", async () => {
    const given = { full_name: " Zoe\u0308 Ek ", note: " Works nights " };
    const made = await admin.call("POST", "/users", { username: `${name}-b`, email: "b@example.org", ...given });
    const stored = { full_name: "Zoë Ek", note: "Works nights" };
    expect((await admin.call("GET", `/users/${made.body.data.id}`)).body.data).toMatchObject(stored);
    expect((await app.lastAudit("user.create")).detail).toMatchObject(stored);
    const changed = await admin.call("PATCH", `/users/${made.body.data.id}`, { full_name: "", note: "On leave" });
    expect(changed.body.data).toMatchObject({ full_name: "", note: "On leave" });
    expect(await lastDetail()).toMatchObject({
      ...{ full_name: "", old_full_name: "Zoë Ek", note: "On leave", old_note: "Works nights" },
    });
    await admin.call("DELETE", `/users/${made.body.data.id}`);
    expect((await app.lastAudit("user.delete")).detail).toMatchObject({ full_name: "", note: "On leave" });
  });

  test("are left as they are by a change of something else", async () => {
    await admin.call("PATCH", `/users/${id}`, { full_name: "Zoë", note: "Nights" });
    const answer = await admin.call("PATCH", `/users/${id}`, { purpose: "tests" });
    expect(answer.body.data).toMatchObject({ full_name: "Zoë", note: "Nights", purpose: "tests" });
  });

  test("of two changes at once both are on record, and the later one is stored", async () => {
    const notes = ["one", "other"];
    await Promise.all(notes.map((note) => admin.call("PATCH", `/users/${id}`, { note })));
    const details = (await app.auditRows("user.update"))
      .filter(({ subjectId }) => subjectId === id)
      .map(({ detail }) => JSON.parse(detail));
    expect(details.map(({ note }) => note).sort()).toEqual(notes);
    expect(details[1].old_note).toBe(details[0].note);
    expect((await admin.call("GET", `/users/${id}`)).body.data.note).toBe(details[1].note);
  });

  test.each([
    { full_name: "x".repeat(129) },
    { full_name: "a\u202eb" },
    { full_name: null },
    { note: "x".repeat(1001) },
    { note: "a\nb" },
    { nte: "a" },
    { full_nam: "a" },
  ])("that are no such texts are refused with 400: %p", async (fields) => {
    expect((await admin.call("PATCH", `/users/${id}`, fields)).status).toBe(400);
    const fresh = { username: `${name}-c`, email: "c@example.org", ...fields };
    expect((await admin.call("POST", "/users", fresh)).status).toBe(400);
  });

  test("the name goes from the application to the user", async () => {
    const person = { username: `${name}-d`, email: "d@example.org", full_name: "Dana Ek" };
    const application = (await app.anonymous().call("POST", "/approvals", person)).body.data;
    expect(application.full_name).toBe("Dana Ek");
    await admin.call("POST", `/approvals/${application.id}/review`, { approve: true });
    const { items } = (await admin.call("GET", `/users?q=${name}-d`)).body.data;
    expect(items).toMatchObject([{ full_name: "Dana Ek", note: "" }]);
  });

  test("the user reads their name, and the note nowhere, old or new, in trail, account, logins or mail", async () => {
    for (const note of ["Suspicious secret", "Another secret"])
      await admin.call("PATCH", `/users/${id}`, { note, full_name: "Zoë", email: `${name}@example.net` });
    await admin.call("POST", `/users/${id}/extend`, { days: 3 });
    const session = await (async () => {
      app.clock.advance(2 * MINUTE);
      return await loginUser(app.system, app.app, name);
    })();
    const read = await Promise.all(
      ["/me", "/auth/me", "/me/audit?page_size=500"].map((path) => session.call("GET", path)),
    );
    expect(read.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(read[0]?.body.data.full_name).toBe("Zoë");
    expect(read.map(({ text }) => text).join()).not.toContain("secret");
    const trail = read[2]?.body.data.items.filter(({ action }: { action: string }) => action === "user.update");
    expect(trail).toHaveLength(2);
    expect(JSON.parse(trail[0].detail)).not.toContainAnyKeys(["note", "old_note"]);
    for (const suffix of ["org", "net"])
      expect(JSON.stringify(await app.mails(`${name}@example.${suffix}`))).not.toContain("secret");
    expect((await me.call("PATCH", `/users/${id}`, { note: "mine" })).status).toBe(401);
    expect((await app.anonymous().call("PATCH", `/users/${id}`, { note: "mine" })).status).toBe(401);
  });
});
