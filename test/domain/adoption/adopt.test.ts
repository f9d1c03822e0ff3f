/** Adopting on a fake host: what is stored and recorded, and what happens where the host or the database fails. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { adoptAccount, giveAccountBack } from "../../../src/domain/adoption/adopt.ts";
import { finishAdoptions } from "../../../src/domain/adoption/finish-adoptions.ts";
import { confirmKeys } from "../../../src/domain/adoption/found.ts";
import { lookToAdopt } from "../../../src/domain/adoption/look.ts";
import type { Context } from "../../../src/domain/operation/context.ts";
import { deleteUser } from "../../../src/domain/users/users.ts";
import type { Adopter, Adoption, FoundAccount } from "../../../src/protocol/adoption.ts";
import { givenUids } from "../../../src/store/schema-fleet.ts";
import { adopterOf } from "../../support/adopter.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

const FILE = "/home/wendy/.ssh/authorized_keys";
const KEY = {
  type: "ssh-ed25519",
  base64: "AAAAC3NzaC1lZDI1NTE5AAAAIFBr/dqzta2r51dmoGYcCCUUz9/JwQPGUaIvDOjL9QKs",
  fingerprint: "SHA256:LMtNT4ZVS3oBOs14Rk+nNQ/6CKP7t1wWqJNCWH3LIfU",
  options: "",
  comment: "laptop",
};
const ACCOUNT: FoundAccount = {
  name: "wendy",
  uid: 1234,
  gid: 1234,
  home: "/home/wendy",
  shell: "/bin/bash",
  groups: ["games"],
  password: "set",
  expires: undefined,
  keyFiles: [{ path: FILE, keys: [KEY], more: 0 }],
  otherWays: [],
  sudo: [],
  processes: 0,
  sessions: 0,
  obstacles: [],
};

describe("adoption", () => {
  let app: TestApp;
  let context: Context;
  let written: Map<number, Adoption>;
  let failing: "take" | "giveBack" | undefined;
  let found: FoundAccount | undefined;
  beforeAll(async () => {
    app = await createTestApp();
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    written = new Map();
    failing = undefined;
    found = ACCOUNT;
    app.host.failing.clear();
    app.host.accounts.clear();
    await app.alter("truncate users, given_uids, closings cascade");
    context = { ...app.system, adopter: fakeAdopter() };
  });

  /** An account is the host's under the name "wendy", or that of a user; written down in memory. */
  function fakeAdopter(): Adopter {
    return {
      ...adopterOf(written),
      look: async (name) => (found?.name === name ? found : undefined),
      take: async (account, { name }) => {
        const { uid } = account;
        written.set(uid, { uid, former: account.name, name, state: "taking", keys: [{ ...KEY, path: FILE }] });
        if (failing === "take") throw new Error("no");
        found = undefined;
        app.host.accounts.set(name, { uid, open: false, expireAt: new Date(0), file: [] });
      },
      giveBack: async (uid) => {
        if (failing === "giveBack") throw new Error("no");
        const adoption = written.get(uid);
        if (adoption === undefined) return;
        app.host.accounts.delete(adoption.name);
        found = ACCOUNT;
        written.delete(uid);
      },
    };
  }

  const adopt = (more: { readonly leaveSudo?: boolean; readonly username?: string; readonly operator?: string } = {}) =>
    adoptAccount(context, {
      account: "wendy",
      username: undefined,
      operator: "olga",
      leaveSudo: false,
      user: { email: "wendy@example.org" },
      ...more,
    });
  const users = async () => await app.db.execute("select id from users");

  test("adoptAccount() stores the user with the account's uid, open and without keys, and records what was found", async () => {
    const user = await adopt();
    expect(user).toMatchObject({ username: "wendy", uid: 1234, status: "active", local: true });
    expect(app.host.accounts.get("ext_wendy")).toMatchObject({ uid: 1234, open: true, file: [] });
    expect(written.get(1234)?.state).toBe("held");
    expect(await app.lastAudit("user.adopt")).toMatchObject({
      result: "success",
      subjectId: user.id,
      detail: { username: "wendy", account: "wendy", uid: 1234, keys_found: 1 },
    });
    expect(await app.db.select({ uid: givenUids.uid }).from(givenUids)).toEqual([{ uid: 1234 }]);
  });

  test("adoptAccount() refuses obstacles and rules of sudo before anything is touched", async () => {
    found = { ...ACCOUNT, obstacles: ["wendy shares her home"] };
    await expect(adopt()).rejects.toThrow("wendy shares her home");
    found = { ...ACCOUNT, sudo: ["(ALL) ALL"] };
    await expect(adopt()).rejects.toThrow("sudo has rules for wendy ((ALL) ALL): remove them, or give --leave-sudo");
    found = ACCOUNT;
    await expect(adopt({ operator: "wendy" })).rejects.toThrow("wendy is your own account");
    expect([written.size, (await users()).length]).toEqual([0, 0]);
    expect(await app.lastAudit("user.adopt")).toMatchObject({ result: "failed", detail: { account: "wendy" } });
    found = { ...ACCOUNT, sudo: ["(ALL) ALL"] };
    expect((await adopt({ leaveSudo: true })).uid).toBe(1234);
  });

  test("adoptAccount() makes the account what it was if the host, or opening it, fails", async () => {
    failing = "take";
    await expect(adopt()).rejects.toThrow();
    expect([written.size, found, (await users()).length]).toEqual([0, ACCOUNT, 0]);
    failing = undefined;
    for (const action of ["shutAccount", "openAccount"] as const) {
      app.host.failing.add(action);
      await expect(adopt()).rejects.toThrow(`The host refused: ${action}`);
      app.host.failing.clear();
      expect([written.size, found, (await users()).length]).toEqual([0, ACCOUNT, 0]);
      expect(app.host.accounts.size).toBe(0);
    }
  });

  test("finishAdoptions() takes back what could not be taken back at once, and never what is stored", async () => {
    failing = "giveBack";
    app.host.failing.add("openAccount");
    await expect(adopt()).rejects.toThrow();
    expect(written.get(1234)?.state).toBe("taking");
    failing = undefined;
    app.host.failing.clear();
    await finishAdoptions(context);
    expect([written.size, found]).toEqual([0, ACCOUNT]);
    await adopt();
    // A crash right after the commit.
    context.adopter?.mark(1234, "taking");
    await finishAdoptions(context);
    expect([written.get(1234)?.state, found, (await users()).length]).toEqual(["held", undefined, 1]);
  });

  test("finishAdoptions() forgets what is written down of a user who was deleted, and gives nothing back", async () => {
    const user = await adopt();
    await deleteUser(context, user.id);
    await finishAdoptions(context);
    expect([written.size, found]).toEqual([0, undefined]);
    found = ACCOUNT;
    const { obstacles } = await lookToAdopt(context, fakeAdopter(), { account: "wendy", operator: "olga" });
    expect(obstacles).toEqual(["The uid 1234 of wendy was an earlier user's"]);
  });

  test("of two at once only one adopts", async () => {
    const both = await Promise.allSettled([adopt(), adopt({ username: "wendy2" })]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((await users()).length).toBe(1);
  });

  test("confirmKeys() puts a found key into the file, records it, and ends the time for giveAccountBack()", async () => {
    const user = await adopt();
    await expect(confirmKeys(context, user.id, [`SHA256:${"x".repeat(43)}`])).rejects.toThrow(
      "No key with the fingerprint",
    );
    const [key] = await confirmKeys(context, user.id, "all");
    expect(key).toMatchObject({ name: "laptop", fingerprint: KEY.fingerprint, status: "active" });
    expect(app.host.accounts.get("ext_wendy")?.file).toEqual([KEY.fingerprint]);
    expect(await app.lastAudit("key.confirm")).toMatchObject({
      result: "success",
      subjectId: user.id,
      detail: { fingerprint: KEY.fingerprint },
    });
    await expect(giveAccountBack(context, user.id)).rejects.toThrow("wendy has had a key: the account is theirs now");
    expect(await app.lastAudit("user.give_back")).toMatchObject({ result: "failed", detail: { username: "wendy" } });
  });

  test("giveAccountBack() forgets the user, and is finished later if the host fails", async () => {
    const { id } = await adopt();
    failing = "giveBack";
    await expect(giveAccountBack(context, id)).rejects.toThrow();
    expect([(await users()).length, written.get(1234)?.state]).toEqual([0, "returning"]);
    failing = undefined;
    await finishAdoptions(context);
    expect([written.size, found]).toEqual([0, ACCOUNT]);
    expect(await app.lastAudit("user.give_back")).toMatchObject({
      result: "success",
      detail: { username: "wendy", account: "wendy", uid: 1234 },
    });
    // Its uid was nobody else's.
    expect((await adopt()).uid).toBe(1234);
  });

  test("giveAccountBack() refuses an account that the service made", async () => {
    const { id } = await app.user("made-here");
    await expect(giveAccountBack(context, id)).rejects.toThrow("The account of made-here was not adopted");
  });

  test("without root none of it is possible", async () => {
    context = { ...context, adopter: undefined };
    await expect(adopt()).rejects.toThrow("This needs root");
    await expect(giveAccountBack(context, 1)).rejects.toThrow("This needs root");
  });
});
