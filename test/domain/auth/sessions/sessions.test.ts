/** Sessions and tokens that are looked up at the same moment, by one statement. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createSessionFinder, hashToken, type SessionFinder } from "../../../../src/domain/auth/sessions/sessions.ts";
import { sessions } from "../../../../src/store/schema-auth.ts";
import { ADMIN_PASSWORD, createTestApp, type TestApp } from "../../../support/app.ts";
import { freshKey } from "../../../support/keys.ts";

let app: TestApp;
let find: SessionFinder;

beforeAll(async () => {
  app = await createTestApp();
  const { autocommit: db, clock, policy } = app.services;
  find = createSessionFinder({ db, clock, policy });
});
afterAll(() => app.close());

/** A session of a user who may or may not exist. */
async function open(id: number, seconds = 3600): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const now = app.clock.now();
  await app.db.insert(sessions).values({
    tokenHash: hashToken(token),
    userType: "user",
    principalId: id,
    username: `user${id}`,
    createdAt: now,
    expiresAt: new Date(now.getTime() + seconds * 1000),
  });
  return token;
}

describe("createSessionFinder()", () => {
  test("gives each of many who ask at once their own session, and nobody else's", async () => {
    const tokens = await Promise.all(Array.from({ length: 300 }, (_, index) => open(1000 + index)));
    const found = await Promise.all(tokens.map((token) => find(token)));
    expect(found.map((principal) => principal?.id)).toEqual(tokens.map((_, index) => 1000 + index));
    expect(found.map((principal) => principal?.username)).toEqual(tokens.map((_, index) => `user${1000 + index}`));
  });

  test("tokens of no session, of an expired and of an ended one find nothing among those that are live", async () => {
    const live = await open(1);
    const expired = await open(2, 0);
    const ended = await open(3);
    const unknown = randomBytes(32).toString("base64url");
    await app.db.delete(sessions);
    const next = await open(4);
    const found = await Promise.all([live, expired, ended, unknown, next, next, ""].map((token) => find(token)));
    expect(found.map((principal) => principal?.id)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      4,
      4,
      undefined,
    ]);
  });

  test("a session that was ended is refused by the next look, whatever looks are under way", async () => {
    const token = await open(5);
    const looks: Promise<unknown>[] = [];
    for (let round = 0; round < 50; round++) looks.push(find(token));
    await app.db.delete(sessions);
    looks.push(find(token));
    expect(await looks.at(-1)).toBeUndefined();
    await Promise.all(looks);
  });
});

test("users who ask for their keys at the same moment each get their own, and one who has none, none", async () => {
  const users = await Promise.all(["ann", "bea", "cid"].map((username) => app.user(username)));
  const [ann, bea, cid] = users.map(({ client }) => client);
  for (const name of ["first", "second"]) await ann?.call("POST", "/me/keys", { name, public_key: freshKey() });
  await bea?.call("POST", "/me/keys", { name: "third", public_key: freshKey() });
  const answers = await Promise.all([ann, bea, cid, ann].map((client) => client?.call("GET", "/me/keys")));
  const names = answers.map((answer) => answer?.body.data.items.map(({ name }: { readonly name: string }) => name));
  expect(names).toEqual([["first", "second"], ["third"], [], ["first", "second"]]);
  await cid?.call("POST", "/auth/logout");
  const after = await Promise.all([ann, cid, bea].map((client) => client?.call("GET", "/me/keys")));
  expect(after.map((answer) => answer?.status)).toEqual([200, 401, 200]);
});

test("tokens that are used at the same moment are each their own", async () => {
  const admin = await app.admin();
  const made = await Promise.all(
    ["one", "two", "three"].map((name) =>
      admin.call("POST", "/tokens", { name, role: "auditor", days: 1, password: ADMIN_PASSWORD }),
    ),
  );
  const texts = made.map(({ body }) => body.data.token as string);
  const wrong = `${texts[0]?.slice(0, -1)}${texts[0]?.endsWith("A") ? "B" : "A"}`;
  const used = await Promise.all(
    [...texts, wrong].map((text) =>
      app.anonymous().call("GET", "/auth/me", undefined, { authorization: `Bearer ${text}` }),
    ),
  );
  expect(used.map(({ status }) => status)).toEqual([200, 200, 200, 401]);
  expect(used.slice(0, 3).map(({ body }) => body.data.token.name)).toEqual(["one", "two", "three"]);
});
