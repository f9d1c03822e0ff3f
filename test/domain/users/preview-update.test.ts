import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { previewUpdate } from "../../../src/domain/users/preview-update.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import type { UserChanges } from "../../../src/domain/users/user-changes.ts";
import { createUser, disableUser, type NewUser } from "../../../src/domain/users/users.ts";
import { parseHours } from "../../../src/shared/hours/text.ts";
import { users } from "../../../src/store/schema.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let id: number;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  app.host.sessionsOpen.length = 0;
  app.host.accounts.clear();
  await app.db.delete(users);
  // A Friday in winter: Berlin is at 11:00.
  app.clock.set(new Date("2026-11-27T10:00:00Z"));
});

async function make(input: Partial<NewUser> = {}): Promise<void> {
  ({ id } = await createUser(app.system, { username: "jensen", email: "jensen@example.org", ...input }));
}

const enter = (from: string) => {
  const session = { id: from, since: app.clock.now(), from, fingerprint: undefined };
  app.host.sessionsOpen.push({ ...session, account: "ext_jensen" });
};
/** The preview, after which nothing has changed. */
const preview = async (changes: UserChanges) => {
  const state = async () => JSON.stringify([await app.db.select().from(users), await app.auditRows(), app.host.calls]);
  const before = await state();
  const told = await previewUpdate(app.system, id, changes);
  expect(await state()).toBe(before);
  return told;
};

describe("previewUpdate()", () => {
  test("says who is logged in and is ended by narrower hours, and what changes on the host", async () => {
    await make();
    enter("192.0.2.1");
    enter("192.0.2.2");
    const { effects, host, status } = await preview({ hours: parseHours("mon-fri 12:00-18:00 Europe/Berlin") });
    expect(effects).toEqual([
      "Access of jensen is open only within mon-fri 12:00-18:00 Europe/Berlin.",
      "jensen cannot log in now before 2026-11-27 11:00 UTC.",
      "2 SSH sessions on the service's own host end at once: from 192.0.2.1, since 2026-11-27 10:00 UTC, from 192.0.2.2, since 2026-11-27 10:00 UTC.",
    ]);
    expect(host).toEqual(["would shutAccount ext_jensen"]);
    expect(status).toBe("active");
  });

  test("says that nobody is ended where only logins end, and that nobody is logged in", async () => {
    await make();
    enter("192.0.2.1");
    const hours = parseHours("sat 08:00-18:00 UTC");
    const { effects } = await preview({ hours, hoursEnd: "logins" });
    expect(effects).toContain("What is open now goes on until the end of the account.");
    app.host.sessionsOpen.length = 0;
    expect((await preview({ hours })).effects).toContain(
      "Nobody is logged in with the account on the service's own host.",
    );
  });

  test("says what ends earlier, what opens, and what is the same", async () => {
    await make({ hours: parseHours("fri 08:00-18:00 UTC") });
    expect((await preview({ hours: parseHours("fri 08:00-12:00 UTC") })).effects).toContain(
      "Access that is open now ends at 2026-11-27 12:00 UTC, instead of 2026-11-27 18:00 UTC.",
    );
    expect((await preview({ supervisor: "Bo" })).effects).toEqual(["jensen keeps the access that they have."]);
    await updateUser(app.system, id, { hours: parseHours("sat 08:00-18:00 UTC") });
    const { effects, host } = await preview({ hours: null });
    expect(effects[0]).toBe("Access of jensen is open at any hour.");
    expect(effects[1]).toStartWith("jensen can log in from now on, until ");
    expect(host).toEqual(["would openAccount ext_jensen"]);
  });

  test("says that somebody has to ask from now on", async () => {
    await make();
    enter("192.0.2.1");
    const { effects } = await preview({ onRequest: { rule: "self", maxHours: 4 } });
    expect(effects.slice(0, 2)).toEqual([
      "No key lets jensen in until they ask, each time: a login of theirs opens it, for 4 hours at most.",
      "jensen cannot log in now before asking.",
    ]);
    expect(effects[2]).toContain("1 SSH session");
  });

  test("says what networks and another address take away", async () => {
    await make();
    const { effects } = await preview({ sourceNetworks: ["192.0.2.0/24"], email: "new@example.org" });
    expect(effects).toEqual([
      "The keys of jensen work only from 192.0.2.0/24; SSH sessions from elsewhere end.",
      "Login codes go to new@example.org from now on, and sessions of jensen with this service end.",
    ]);
  });

  test("promises nothing for who is disabled", async () => {
    await make();
    await disableUser(app.system, id);
    const { effects, host, status } = await preview({ hours: parseHours("sat 08:00-18:00 UTC") });
    expect(effects).toEqual(["Access of jensen is open only within sat 08:00-18:00 UTC."]);
    expect([host, status]).toEqual([[], "disabled"]);
  });

  test("is refused as the change itself would be", async () => {
    await make();
    const startsAt = new Date("2026-12-29T10:00:00Z");
    await expect(preview({ startsAt })).rejects.toThrow("The access of jensen has begun");
    await expect(preview({ email: "nothing" })).rejects.toThrow("one address");
    await expect(preview({ companyId: 999 })).rejects.toThrow("There is no such company");
    await expect(preview({ sourceNetworks: [], hours: null })).rejects.toThrow("in requests of their own");
    await expect(previewUpdate(app.system, 999_999, {})).rejects.toThrow("no user with the id");
  });
});
