/** From where a user's keys may be used: what is taken away goes forward, what is given is given or not. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { HOUR, MINUTE } from "../../../src/shared/time/clock.ts";
import { closings, users } from "../../../src/store/schema.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_SESSION_TTL: "30d" });
  admin = await app.admin();
});
beforeEach(() => app.clock.advance(MINUTE));
afterEach(async () => {
  app.host.failing.clear();
  app.host.sessionsOpen.length = 0;
  await app.db.delete(closings);
});
afterAll(() => app.close());

/** A user with a key, and what the API says of both. */
async function person(networks?: readonly string[], keyNetworks?: readonly string[]) {
  const username = `net-${++count}`;
  const made = await app.user(username);
  const set = networks && (await admin.call("PATCH", `/users/${made.id}`, { source_networks: networks }));
  expect(set?.status ?? 200).toBe(200);
  const upload = { name: "laptop", public_key: freshKey(), source_networks: keyNetworks };
  const { status, body } = await made.client.call("POST", "/me/keys", upload);
  expect(status).toBe(201);
  const account = `ext_${username}`;
  const fingerprint = body.data.fingerprint as string;
  return { ...made, username, account, key: body.data, keyPath: `/me/keys/${body.data.id}`, fingerprint };
}
type Person = Awaited<ReturnType<typeof person>>;

function patch({ id }: Person, networks: readonly string[], more: object = {}) {
  return admin.call("PATCH", `/users/${id}`, { source_networks: networks, ...more });
}
/** What the host's file says; "absent" where the key has no line. */
function from({ account, fingerprint }: Person): readonly string[] | undefined | "absent" {
  const found = app.host.accounts.get(account);
  return found?.file.includes(fingerprint) ? found.from?.[fingerprint] : "absent";
}
async function storedNetworks({ id }: Person) {
  const [user] = await app.db.select().from(users).where(eq(users.id, id));
  return user?.sourceNetworks;
}
function logIn({ account, fingerprint }: Person, address: string, isProven = true): string {
  const id = `${app.host.sessionsOpen.length + 1}0000001234`;
  app.host.sessionsOpen.push({
    account,
    id,
    since: new Date(),
    from: address,
    fingerprint: isProven ? fingerprint : undefined,
  });
  return id;
}
const open = () => app.host.sessionsOpen.map((session) => session.from);

describe("a user's networks", () => {
  test("are set at the creation, shown, and written with the first key", async () => {
    const username = `net-${++count}`;
    const made = await admin.call("POST", "/users", {
      username,
      email: "n@example.org",
      source_networks: ["192.0.2.7", "::ffff:10.0.0.0/104", "192.0.2.7/32", " 2001:DB8::/32 "],
    });
    expect(made.status).toBe(201);
    const canonical = ["192.0.2.7/32", "10.0.0.0/8", "2001:db8::/32"];
    expect((await admin.call("GET", `/users/${made.body.data.id}`)).body.data.source_networks).toEqual(canonical);
    expect((await app.lastAudit("user.create")).detail.source_networks).toBe(canonical.join(", "));
  });

  test("narrow at once: the file, the sessions from outside, and the record with old and new", async () => {
    const alice = await person();
    expect(from(alice)).toBeUndefined();
    logIn(alice, "192.0.2.7");
    logIn(alice, "198.51.100.7");
    logIn(alice, "", false);
    const answer = await patch(alice, ["192.0.2.0/24"], { purpose: "new" });
    expect([answer.status, answer.body.data?.source_networks, answer.body.data?.purpose]).toEqual([
      200,
      ["192.0.2.0/24"],
      "new",
    ]);
    expect(from(alice)).toEqual(["192.0.2.0/24"]);
    expect(open()).toEqual(["192.0.2.7"]);
    expect((await app.lastAudit("user.update")).detail).toEqual({
      username: alice.username,
      purpose: "new",
      old_purpose: "",
      source_networks: "192.0.2.0/24",
      old_source_networks: "",
    });
    expect(await app.db.select().from(closings)).toEqual([]);
    expect((await alice.client.call("GET", "/me")).body.data.source_networks).toEqual(["192.0.2.0/24"]);
  });

  test("widen as a grant: if the host refuses, nothing is changed, and the old line stands", async () => {
    const alice = await person(["192.0.2.0/24"]);
    app.host.failing.add("writeKeys");
    const refused = await patch(alice, ["192.0.0.0/16"], { purpose: "new" });
    expect([refused.status, refused.body.error]).toEqual([400, `The host refused: writeKeys of ${alice.account}`]);
    app.host.failing.clear();
    expect(await storedNetworks(alice)).toEqual(["192.0.2.0/24"]);
    expect(from(alice)).toEqual(["192.0.2.0/24"]);
    expect((await app.lastAudit("user.update")).result).toBe("failed");
    expect((await patch(alice, ["192.0.0.0/16"])).status).toBe(200);
    expect(from(alice)).toEqual(["192.0.0.0/16"]);
    expect((await patch(alice, [])).body.data.source_networks).toEqual([]);
    expect(from(alice)).toBeUndefined();
    expect((await app.lastAudit("user.update")).detail).toMatchObject({
      source_networks: "",
      old_source_networks: "192.0.0.0/16",
    });
  });

  test("that move take away first, and give what is added once that is on record", async () => {
    const alice = await person(["192.0.2.0/24", "198.51.100.0/24"]);
    const written: unknown[] = [];
    const { narrowKeys, openAccount } = app.host;
    app.host.narrowKeys = (account) => {
      written.push(account.keys[0]?.networks);
      return narrowKeys(account);
    };
    app.host.openAccount = (account) => {
      written.push(account.keys[0]?.networks);
      return openAccount(account);
    };
    logIn(alice, "192.0.2.7");
    expect((await patch(alice, ["198.51.100.0/24", "203.0.113.0/24"])).status).toBe(200);
    expect(written).toEqual([["198.51.100.0/24"], ["198.51.100.0/24", "203.0.113.0/24"]]);
    expect(from(alice)).toEqual(["198.51.100.0/24", "203.0.113.0/24"]);
    expect(open()).toEqual([]);
    // Elsewhere altogether: from nowhere in between.
    expect((await patch(alice, ["10.0.0.0/8"])).status).toBe(200);
    expect(written.slice(2)).toEqual([[], ["10.0.0.0/8"]]);
    // If what is added cannot be written, reconciling does it: the user can do less than is stored.
    app.host.failing.add("openAccount");
    expect((await patch(alice, ["192.0.2.0/24"])).status).toBe(200);
    expect(from(alice)).toBe("absent");
    Object.assign(app.host, { narrowKeys, openAccount });
  });

  test("that are the same change nothing on the host", async () => {
    const alice = await person(["192.0.2.0/24"]);
    const before = app.host.calls.length;
    expect((await patch(alice, ["192.0.2.0/24"], { supervisor: "Bo" })).status).toBe(200);
    expect(app.host.calls.length).toBe(before);
  });

  test.each([
    [["192.0.2.1/24"], "192.0.2.1/24 is an address within a network; the network itself is 192.0.2.0/24"],
    [["anywhere"], '"anywhere" is not a network such as 192.0.2.0/24 or 2001:db8::/32, nor an address'],
    [['10.0.0.0/8",command="id'], "is not a network"],
    [Array.from({ length: 33 }, (_, index) => `10.0.${index}.0/24`), "32"],
    ["192.0.2.0/24", "source_networks"],
    [[7], "source_networks"],
    [null, "source_networks"],
  ])("that are %p are 400, and change nothing", async (networks, sentence) => {
    const alice = await person(["192.0.2.0/24"]);
    const answer = await admin.call("PATCH", `/users/${alice.id}`, { source_networks: networks, purpose: "x" });
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(sentence)]);
    expect(await storedNetworks(alice)).toEqual(["192.0.2.0/24"]);
    expect((await admin.call("GET", `/users/${alice.id}`)).body.data.purpose).toBe("");
  });

  test("of a user who is disabled are stored, and hold when they are enabled", async () => {
    const alice = await person();
    await admin.call("POST", `/users/${alice.id}/disable`);
    const before = app.host.calls.length;
    expect((await patch(alice, ["192.0.2.0/24"])).status).toBe(200);
    expect(app.host.calls.slice(before).filter((call) => call.startsWith("narrowKeys"))).toEqual([]);
    await admin.call("POST", `/users/${alice.id}/enable`);
    expect(from(alice)).toEqual(["192.0.2.0/24"]);
  });

  test("only administrators may set", async () => {
    const alice = await person();
    const answer = await alice.client.call("PATCH", `/users/${alice.id}`, { source_networks: [] });
    expect(answer.status).toBe(403);
    expect((await app.anonymous().call("PATCH", `/users/${alice.id}`, { source_networks: [] })).status).toBe(401);
  });
});

describe("what the host cannot do", () => {
  test("is owed: stored all the same, mailed, retried, and recorded as a repair", async () => {
    const alice = await person();
    app.host.failing.add("narrowKeys");
    const mails = (await app.mails("admin@example.org")).length;
    const answer = await patch(alice, ["192.0.2.0/24"]);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toBe(
      `The networks of ${alice.username} are stored, but the host may still let them in from outside until this is done. Left to do, and tried again until it is done: The host refused: narrowKeys of ${alice.account}`,
    );
    expect(answer.headers.get("uam-error")).toBe("access.owed");
    expect(await storedNetworks(alice)).toEqual(["192.0.2.0/24"]);
    expect((await app.lastAudit("user.update")).result).toBe("failed");
    const mailed = (await app.mails("admin@example.org")).slice(mails);
    expect(mailed.map(({ subject }) => subject)).toEqual([
      expect.stringContaining(`narrowing from where ${alice.username} may log in is not finished`),
    ]);
    // They are neither disabled nor kept from logging in to the service.
    expect((await alice.client.call("GET", "/me")).body.data.status).toBe("active");
    await finishClosings(app.services, "all");
    expect(await app.db.select().from(closings)).toHaveLength(1);
    app.host.failing.clear();
    app.clock.advance(HOUR);
    await finishClosings(app.services);
    expect(from(alice)).toEqual(["192.0.2.0/24"]);
    expect(await app.db.select().from(closings)).toEqual([]);
    expect((await app.lastAudit("reconcile.repair")).detail).toMatchObject({
      username: alice.username,
      done: "what was left of narrowing the networks",
    });
  });

  test("stays owed when the networks are widened, as far as they still exclude anything", async () => {
    const alice = await person();
    app.host.failing.add("narrowKeys");
    await patch(alice, ["192.0.2.0/24"]);
    app.host.failing.clear();
    logIn(alice, "192.0.3.1");
    logIn(alice, "10.0.0.1");
    expect((await patch(alice, ["192.0.0.0/16"])).status).toBe(200);
    expect((await app.db.select().from(closings)).map(({ networks }) => networks)).toEqual([["192.0.0.0/16"]]);
    await finishClosings(app.services, "all");
    expect([from(alice), open()]).toEqual([["192.0.0.0/16"], ["192.0.3.1"]]);
    app.host.failing.add("narrowKeys");
    await patch(alice, ["192.0.2.0/24"]);
    expect((await patch(alice, [])).status).toBe(200);
    expect(await app.db.select().from(closings)).toEqual([]);
    expect(from(alice)).toBeUndefined();
  });

  test("a death of the process after the note: the networks are stored and recorded in the name of who asked", async () => {
    const alice = await person(["192.0.0.0/16"]);
    const host = { ...app.host, narrowKeys: () => Promise.reject(new Error("died")) };
    // As if the transaction never came to an end: only the note is there.
    const [row] = await app.db
      .insert(closings)
      .values({
        ...{ userId: alice.id, kind: "narrow", networks: ["192.0.2.0/24", "10.0.0.0/8"], action: "user.update" },
        ...{ actorType: "admin", actor: "root-admin", begunAt: app.clock.now(), dueAt: app.clock.now() },
      })
      .returning();
    expect(row?.kind).toBe("narrow");
    // As long as it is there, nothing opens what it takes away, and what it adds is not given.
    await alice.client.call("POST", "/me/keys", { name: "second", public_key: freshKey() });
    expect(from(alice)).toEqual(["192.0.2.0/24"]);
    await finishClosings({ ...app.services, host }, "all");
    expect(await app.db.select().from(closings)).toHaveLength(1);
    expect(await storedNetworks(alice)).toEqual(["192.0.2.0/24", "10.0.0.0/8"]);
    await finishClosings(app.services, "all");
    expect(await app.db.select().from(closings)).toEqual([]);
    const records = (await app.auditRows("user.update")).filter(({ resourceId }) => resourceId === String(alice.id));
    expect(records.at(-1)).toMatchObject({ actor: "root-admin", actorType: "admin", result: "failed" });
    expect(JSON.parse(records.at(-1)?.detail ?? "{}")).toMatchObject({
      source_networks: "192.0.2.0/24, 10.0.0.0/8",
      old_source_networks: "192.0.0.0/16",
    });
  });

  test("two administrators at the same instant: one after the other, and the file is as stored", async () => {
    const alice = await person(["192.0.0.0/16"]);
    for (let round = 0; round < 5; round++) {
      const lists = [["192.0.2.0/24"], ["192.0.0.0/16"], ["192.0.0.0/15"], ["10.0.0.0/8"]];
      const answers = await Promise.all(lists.map((networks) => patch(alice, networks)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const stored = await storedNetworks(alice);
      // What was given last may be narrower than stored for a moment, never wider.
      expect([stored, "absent"]).toContainEqual(from(alice) as string[]);
      await updateUser(app.system, alice.id, { sourceNetworks: [] });
      await updateUser(app.system, alice.id, { sourceNetworks: stored });
      expect(from(alice)).toEqual(stored ?? []);
    }
    expect(await app.db.select().from(closings)).toEqual([]);
  });
});

describe("a key's networks", () => {
  test("are uploaded with it, shown and recorded, and written with what the user's have in common", async () => {
    const alice = await person(["192.0.0.0/16"], ["192.0.2.0/24"]);
    expect(alice.key.source_networks).toEqual(["192.0.2.0/24"]);
    expect(from(alice)).toEqual(["192.0.2.0/24"]);
    expect((await app.lastAudit("key.create")).detail.source_networks).toBe("192.0.2.0/24");
    expect((await admin.call("GET", `/users/${alice.id}/keys`)).body.data.items[0].source_networks).toEqual([
      "192.0.2.0/24",
    ]);
  });

  test("wider than the user's are 400, in words that name which", async () => {
    const alice = await person(["192.0.2.0/24", "10.0.0.0/9", "10.128.0.0/9"]);
    const sentence = (network: string) =>
      `${network} is not within the networks from where ${alice.username} may log in: 192.0.2.0/24, 10.0.0.0/9, 10.128.0.0/9`;
    for (const network of ["192.0.0.0/16", "198.51.100.0/24", "::/0"]) {
      const list = { source_networks: ["192.0.2.0/25", network] };
      const uploaded = await alice.client.call("POST", "/me/keys", { name: "x", public_key: freshKey(), ...list });
      const changed = await alice.client.call("PATCH", alice.keyPath, list);
      for (const answer of [uploaded, changed]) {
        expect([answer.status, answer.body.error]).toEqual([400, sentence(network)]);
        expect(answer.headers.get("uam-error")).toBe("network.wider");
      }
    }
    // Together the user's two cover it.
    expect((await alice.client.call("PATCH", alice.keyPath, { source_networks: ["10.0.0.0/8"] })).status).toBe(200);
    expect(from(alice)).toEqual(["10.0.0.0/8"]);
  });

  test("narrow and widen within the user's, with a name or without, recorded with old and new", async () => {
    const alice = await person(["192.0.0.0/16"]);
    logIn(alice, "192.0.3.1");
    logIn(alice, "192.0.2.1");
    const narrowed = await alice.client.call("PATCH", alice.keyPath, {
      name: "desk",
      source_networks: ["192.0.2.0/24"],
    });
    expect([narrowed.status, narrowed.body.data.name, narrowed.body.data.source_networks]).toEqual([
      200,
      "desk",
      ["192.0.2.0/24"],
    ]);
    expect([from(alice), open()]).toEqual([["192.0.2.0/24"], ["192.0.2.1"]]);
    expect(await app.lastAudit("key.update")).toMatchObject({
      resourceId: String(alice.key.id),
      actorType: "user",
      detail: {
        username: alice.username,
        fingerprint: alice.fingerprint,
        name: "desk",
        old_name: "laptop",
        source_networks: "192.0.2.0/24",
        old_source_networks: "",
      },
    });
    const widened = await alice.client.call("PATCH", alice.keyPath, { source_networks: [] });
    expect([widened.status, from(alice)]).toEqual([200, ["192.0.0.0/16"]]);
    expect((await alice.client.call("PATCH", alice.keyPath, {})).status).toBe(400);
    app.host.failing.add("narrowKeys");
    const owed = await alice.client.call("PATCH", alice.keyPath, { source_networks: ["192.0.2.0/24"] });
    expect(owed.status).toBe(500);
    app.host.failing.clear();
    await finishClosings(app.services, "all");
    expect(from(alice)).toEqual(["192.0.2.0/24"]);
    expect(await app.lastAudit("reconcile.repair")).toMatchObject({
      resourceType: "user",
      resourceId: String(alice.id),
    });
    app.host.failing.add("writeKeys");
    expect((await alice.client.call("PATCH", alice.keyPath, { source_networks: [] })).status).toBe(500);
    app.host.accounts.delete(alice.account);
    app.host.failing.clear();
    expect((await alice.client.call("PATCH", alice.keyPath, { source_networks: [] })).status).toBe(500);
  });

  test("that the user's were narrowed below count as what both have in common, down to none", async () => {
    const alice = await person(["192.0.0.0/16"], ["192.0.2.0/24", "192.0.3.0/24"]);
    expect((await patch(alice, ["192.0.2.128/25", "10.0.0.0/8"])).status).toBe(200);
    expect(from(alice)).toEqual(["192.0.2.128/25"]);
    logIn(alice, "192.0.2.200");
    expect((await patch(alice, ["10.0.0.0/8"])).status).toBe(200);
    // From nowhere: the line is gone, and so are the key's sessions.
    expect([from(alice), open()]).toEqual(["absent", []]);
    const { items } = (await alice.client.call("GET", "/me/keys")).body.data;
    expect(items[0]).toMatchObject({ status: "active", source_networks: ["192.0.2.0/24", "192.0.3.0/24"] });
    // A new name need not have narrower networks; others do.
    const renamed = { name: "n", source_networks: ["192.0.2.0/24", "192.0.3.0/24"] };
    expect((await alice.client.call("PATCH", alice.keyPath, renamed)).status).toBe(200);
    expect((await alice.client.call("PATCH", alice.keyPath, { source_networks: ["192.0.2.0/24"] })).status).toBe(400);
    expect((await alice.client.call("PATCH", alice.keyPath, { source_networks: [] })).status).toBe(200);
    expect(from(alice)).toEqual(["10.0.0.0/8"]);
  });

  test("of others cannot be changed", async () => {
    const [alice, mallory] = [await person(), await person()];
    const answer = await mallory.client.call("PATCH", alice.keyPath, { source_networks: ["192.0.2.0/24"] });
    expect([answer.status, from(alice)]).toEqual([404, undefined]);
    expect((await admin.call("PATCH", alice.keyPath, { source_networks: [] })).status).toBe(403);
  });

  test("that are being narrowed when the key is revoked need nothing more", async () => {
    const alice = await person();
    app.host.failing.add("narrowKeys");
    await alice.client.call("PATCH", alice.keyPath, { source_networks: ["192.0.2.0/24"] });
    app.host.failing.clear();
    expect((await alice.client.call("DELETE", alice.keyPath)).status).toBe(200);
    await finishClosings(app.services, "all");
    expect(await app.db.select().from(closings)).toEqual([]);
  });
});
