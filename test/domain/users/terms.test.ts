/** The terms of use: accepted before the first key, and asked for again when they change. */

import { afterEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Policy } from "../../../src/domain/operation/context.ts";
import { mailTerms, noteTerms } from "../../../src/domain/users/terms.ts";
import type { Terms } from "../../../src/shared/text/terms.ts";
import { DAY } from "../../../src/shared/time/clock.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

const TEXT = "Terms of use\n\nBe kind to the build servers.\n";
const VERSION = createHash("sha256").update(TEXT).digest("hex");
const OTHER: Terms = { version: "1".repeat(64), text: "Be kinder." };

const open: TestApp[] = [];
const directories: string[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

async function opened(): Promise<TestApp> {
  const directory = mkdtempSync(join(tmpdir(), "uam-terms-"));
  directories.push(directory);
  writeFileSync(join(directory, "terms.txt"), TEXT);
  const app = await createTestApp({ UAM_TERMS_FILE: join(directory, "terms.txt"), UAM_SESSION_TTL: "30d" });
  open.push(app);
  await noteTerms(app.services);
  return app;
}

/** As a restart with another file, or without one, does. */
async function restart(app: TestApp, terms: Terms | undefined): Promise<void> {
  (app.services.policy as { -readonly [K in keyof Policy]: Policy[K] }).terms = () => terms;
  await noteTerms(app.services);
  await mailTerms(app.services);
}

const upload = (client: Client) => client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
const accept = (client: Client, version: string) => client.call("POST", "/me/terms", { version });
const reasonOf = ({ status, headers }: { status: number; headers: Headers }) => [status, headers.get("uam-error")];
const askings = async (app: TestApp, name: string) =>
  (await app.mails(`${name}@example.org`)).filter(({ subject }) => subject.startsWith("Terms of use"));

describe("a new user", () => {
  test("accepts the terms before the first key is stored", async () => {
    const app = await opened();
    const { id, client } = await app.user("alice");
    expect(reasonOf(await upload(client))).toEqual([409, "terms.pending"]);
    expect((await client.call("GET", "/me/keys")).body.data.items).toEqual([]);
    const pending = { version: VERSION, pending: true, accepted_at: null };
    expect((await client.call("GET", "/me")).body.data.terms).toEqual(pending);
    expect((await client.call("GET", "/me/terms")).body.data).toEqual({ ...pending, text: TEXT });

    const now = app.clock.now().toISOString();
    const accepted = { version: VERSION, pending: false, accepted_at: now };
    expect((await accept(client, VERSION)).body.data).toEqual(accepted);
    expect((await client.call("GET", "/me")).body.data.terms).toEqual(accepted);
    expect(await app.lastAudit("user.terms")).toMatchObject({
      ...{ actorType: "user", actor: "alice", resourceId: String(id), subjectId: id, result: "success" },
      detail: { username: "alice", version: VERSION },
    });
    expect((await upload(client)).status).toBe(201);
    expect(await askings(app, "alice")).toEqual([]);
    const admin = await app.admin();
    const seen = async () => (await admin.call("GET", `/users/${id}`)).body.data.terms;
    const known = { accepted_version: VERSION, accepted_at: now };
    expect(await seen()).toEqual({ version: VERSION, pending: false, ...known });
    await restart(app, OTHER);
    expect(await seen()).toEqual({ version: OTHER.version, pending: true, ...known });
    await restart(app, undefined);
    expect(await seen()).toBeUndefined();
  });

  test("accepts once, however often and however many at once", async () => {
    const app = await opened();
    const { client } = await app.user("alice");
    const answers = await Promise.all(Array.from({ length: 5 }, () => accept(client, VERSION)));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    app.clock.advance(DAY);
    const again = await accept(client, VERSION);
    expect(again.body.data.accepted_at).toBe(answers[0]?.body.data.accepted_at);
    expect(await app.auditRows("user.terms")).toHaveLength(1);
  });

  test("cannot accept other terms, and only while active", async () => {
    const app = await opened();
    const admin = await app.admin();
    const { id, client } = await app.user("alice");
    expect(reasonOf(await accept(client, OTHER.version))).toEqual([409, "terms.changed"]);
    expect(await app.lastAudit("user.terms")).toMatchObject({ result: "failed", subjectId: id });
    await admin.call("POST", `/users/${id}/disable`);
    expect(reasonOf(await accept(client, VERSION))).toEqual([409, "user.not_active"]);
    expect(reasonOf(await upload(client))).toEqual([409, "user.not_active"]);
  });
});

describe("when the terms change", () => {
  test("everybody active who was there is mailed once, and keeps the keys", async () => {
    const app = await opened();
    const admin = await app.admin();
    const [alice, bob, carol] = [await app.user("alice"), await app.user("bob"), await app.user("carol")];
    for (const { client } of [alice, bob, carol]) await accept(client, VERSION);
    await upload(alice.client);
    await admin.call("POST", `/users/${carol.id}/disable`);
    app.clock.advance(DAY);
    await restart(app, OTHER);
    await mailTerms(app.services);
    const counts = async () => [await askings(app, "alice"), await askings(app, "bob"), await askings(app, "carol")];
    expect((await counts()).map((mails) => mails.length)).toEqual([1, 1, 0]);
    expect((await alice.client.call("GET", "/me")).body.data.terms.pending).toBe(true);
    // Only the first key waits.
    expect((await upload(alice.client)).status).toBe(201);
    expect(reasonOf(await upload(bob.client))).toEqual([409, "terms.pending"]);

    // Whoever comes back is asked then; a newcomer is asked at the first key.
    await admin.call("POST", `/users/${carol.id}/enable`);
    await app.user("dora");
    await mailTerms(app.services);
    expect((await counts()).map((mails) => mails.length)).toEqual([1, 1, 1]);
    expect(await askings(app, "dora")).toEqual([]);

    // Terms that come back are new to whoever accepted the others.
    await accept(alice.client, OTHER.version);
    app.clock.advance(DAY);
    await restart(app, { version: VERSION, text: TEXT });
    expect((await counts()).map((mails) => mails.length)).toEqual([2, 1, 1]);
  });

  test("GET /users lists who has not accepted, and who has not after 14 days", async () => {
    const app = await opened();
    const admin = await app.admin();
    const { client } = await app.user("alice");
    await app.user("bob");
    const listed = async (query: string) => {
      const { body } = await admin.call("GET", `/users?terms=${query}&sort=username`);
      expect(body.data.total).toBe(body.data.items.length);
      return body.data.items.map(({ username }: { username: string }) => username);
    };
    await accept(client, VERSION);
    expect(await listed("pending")).toEqual(["bob"]);
    expect(await listed("overdue")).toEqual([]);
    app.clock.advance(14 * DAY);
    expect(await listed("overdue")).toEqual(["bob"]);
    expect(await listed("pending&status=disabled")).toEqual([]);
    await restart(app, OTHER);
    expect(await listed("pending")).toEqual(["alice", "bob"]);
    expect(await listed("overdue")).toEqual([]);
    app.clock.advance(14 * DAY);
    expect(await listed("overdue")).toEqual(["alice", "bob"]);
    const file = await admin.call("GET", "/users/export?terms=overdue");
    expect(file.text.trim().split("\n")).toHaveLength(3);
    expect((await app.lastAudit("user.export")).detail).toMatchObject({ terms: "overdue" });
  });
});

describe("without terms", () => {
  test("nobody is asked, and there is nothing to accept", async () => {
    const app = await createTestApp();
    open.push(app);
    await noteTerms(app.services);
    await mailTerms(app.services);
    const admin = await app.admin();
    const { client } = await app.user("alice");
    expect((await client.call("GET", "/me")).body.data).not.toHaveProperty("terms");
    expect(reasonOf(await client.call("GET", "/me/terms"))).toEqual([404, "terms.none"]);
    expect(reasonOf(await accept(client, VERSION))).toEqual([404, "terms.none"]);
    expect((await upload(client)).status).toBe(201);
    expect((await admin.call("GET", "/users?terms=pending")).body.data.total).toBe(0);
  });
});
