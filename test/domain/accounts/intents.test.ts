import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { removeUnfinishedAccounts } from "../../../src/domain/accounts/intents.ts";
import { accountIntents } from "../../../src/store/schema-fleet.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
});
afterAll(() => app.close());

const create = (username: string) => admin.call("POST", "/users", { username, email: "x@example.org" });

describe("removeUnfinishedAccounts()", () => {
  test("finds nothing after a create that succeeded or was refused", async () => {
    await create("whole");
    app.host.failing.add("createAccount");
    await create("refused");
    app.host.failing.clear();
    expect(await app.db.select().from(accountIntents)).toEqual([]);
    await removeUnfinishedAccounts(app.services);
    expect([...app.host.accounts.keys()]).toEqual(["ext_whole"]);
  });

  test("removes what a crash left between the host and the commit, so that the name is free again", async () => {
    // As a process that died left it: the note is committed, the account is there, the user is not.
    await app.db.insert(accountIntents).values({ uid: 30_000, name: "ext_crashed" });
    app.host.accounts.set("ext_crashed", { uid: 30_000, open: true, expireAt: new Date(), file: [] });
    expect((await create("crashed")).status).toBe(409);
    await removeUnfinishedAccounts(app.services);
    expect(app.host.accounts.has("ext_crashed")).toBe(false);
    expect(await app.db.select().from(accountIntents)).toEqual([]);
    expect((await create("crashed")).status).toBe(201);
  });

  test("leaves an account alone that is being created at this moment", async () => {
    const making = create("in-the-making");
    for (let attempt = 0; attempt < 200 && (await app.db.select().from(accountIntents)).length === 0; attempt++) {
      await Bun.sleep(1);
    }
    await removeUnfinishedAccounts(app.services);
    expect((await making).status).toBe(201);
    expect(app.host.accounts.has("ext_in-the-making")).toBe(true);
  });

  test("never removes a stored user's account, and keeps the note of one that the host refuses to remove", async () => {
    const uid = app.host.accounts.get("ext_whole")?.uid ?? 0;
    await app.db.insert(accountIntents).values([
      { uid, name: "ext_whole" },
      { uid: 30_001, name: "ext_stuck" },
    ]);
    app.host.failing.add("removeAccount");
    await removeUnfinishedAccounts(app.services);
    app.host.failing.clear();
    expect(app.host.accounts.has("ext_whole")).toBe(true);
    expect(await app.db.select().from(accountIntents)).toEqual([{ uid: 30_001, name: "ext_stuck" }]);
    await app.db.execute(sql`delete from account_intents`);
  });
});
