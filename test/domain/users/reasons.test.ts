/** Why a user was disabled, enabled, extended or deleted: in the records that administrators read, and nowhere else. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { listClosings } from "../../../src/domain/accounts/closings.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";

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
  app.host.failing.clear();
  admin = await app.admin();
  name = `why-${++count}`;
  ({ id, client: me } = await app.user(name));
});

const records = async () =>
  (await app.auditRows())
    .filter(({ subjectId, action }) => subjectId === id && action !== "user.create" && action.startsWith("user."))
    .map(({ action, actor, result, detail }) => ({ action, actor, result, reason: JSON.parse(detail).reason }));

describe("a reason", () => {
  test("of each change is recorded, trimmed and in NFC; no mail to the user has it", async () => {
    const reason = " The project’s cafe\u0301 closed ";
    for (const path of ["disable", "enable", "extend"])
      expect((await admin.call("POST", `/users/${id}/${path}`, { reason })).status).toBe(200);
    expect((await admin.call("DELETE", `/users/${id}?reason=${encodeURIComponent(reason)}`)).status).toBe(200);
    const recorded = { actor: "admin", result: "success", reason: "The project’s café closed" } as const;
    expect(await records()).toEqual(
      (["user.disable", "user.enable", "user.extend", "user.delete"] as const).map((action) => ({
        ...recorded,
        action,
      })),
    );
    expect(JSON.stringify(await app.mails(`${name}@example.org`))).not.toContain("project");
  });

  test("is not in the trail that the user reads, which is otherwise whole", async () => {
    await admin.call("POST", `/users/${id}/extend`, { days: 5, reason: "Suspected of theft" });
    const { items } = (await me.call("GET", "/me/audit")).body.data;
    const shown = items.find(({ action }: { action: string }) => action === "user.extend");
    expect(JSON.parse(shown.detail)).toMatchObject({ username: name, days: 5, old_status: "active" });
    expect(shown.detail).not.toContain("theft");
    const seen = (await admin.call("GET", `/audit?user_id=${id}&action=user.extend`)).body.data.items[0];
    expect(JSON.parse(seen.detail).reason).toBe("Suspected of theft");
  });

  test("is optional, and one of spaces is none", async () => {
    expect((await admin.call("POST", `/users/${id}/disable`)).status).toBe(200);
    expect((await admin.call("POST", `/users/${id}/enable`, { reason: "  " })).status).toBe(200);
    expect((await admin.call("DELETE", `/users/${id}?reason=`)).status).toBe(200);
    for (const { reason } of await records()) expect(reason).toBeUndefined();
  });

  test.each(["x".repeat(501), "a\u0007b", "a\u202eb", "\u200b", "two\nlines"])(
    "that is no text is refused with 400, and nothing changes: %p",
    async (reason) => {
      const answers = [
        ...(await Promise.all(
          ["disable", "extend"].map((path) => admin.call("POST", `/users/${id}/${path}`, { reason })),
        )),
        await admin.call("DELETE", `/users/${id}?reason=${encodeURIComponent(reason)}`),
      ];
      const preview = await admin.call("POST", `/users/${id}/disable?preview=true`, { reason });
      for (const answer of [...answers, preview]) {
        expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining("reason")]);
      }
      expect((await admin.call("GET", `/users/${id}`)).body.data.status).toBe("active");
      expect(app.host.accounts.get(`ext_${name}`)?.open).toBe(true);
    },
  );

  test("of an anonymous caller, or of the user, does nothing", async () => {
    expect((await app.anonymous().call("POST", `/users/${id}/disable`, { reason: "x" })).status).toBe(401);
    expect((await me.call("POST", `/users/${id}/disable`, { reason: "x" })).status).toBe(403);
    expect(await records()).toEqual([]);
  });

  test("of two who disable at once is recorded for each", async () => {
    const answers = await Promise.all(
      ["one", "other"].map((reason) => admin.call("POST", `/users/${id}/disable`, { reason })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await records()).map(({ reason }) => reason).sort()).toEqual(["one", "other"]);
  });

  test("of a deletion that the host delays is in the record that follows", async () => {
    app.host.failing.add("removeAccount");
    expect((await admin.call("DELETE", `/users/${id}?reason=Left`)).status).toBe(500);
    app.host.failing.clear();
    app.clock.advance(2 * MINUTE);
    await finishClosings(app.services);
    expect(await records()).toEqual([
      { action: "user.delete", actor: "admin", result: "failed", reason: "Left" },
      { action: "user.delete", actor: "admin", result: "success", reason: "Left" },
    ]);
  });

  test("of a disabling that is cut short is in the record that follows", async () => {
    await app.alter("alter function audit_append rename to audit_append_away");
    const answer = await admin.call("POST", `/users/${id}/disable`, { reason: "Stolen laptop" });
    await app.alter("alter function audit_append_away rename to audit_append");
    expect(answer.status).toBe(500);
    expect(await listClosings(app.db)).toMatchObject([{ kind: "shut", reason: "Stolen laptop" }]);
    app.clock.advance(2 * MINUTE);
    await finishClosings(app.services, "all");
    expect(await records()).toEqual([
      { action: "user.disable", actor: "admin", result: "success", reason: "Stolen laptop" },
    ]);
  });
});
