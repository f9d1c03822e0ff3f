/** Where a profile asks for a second factor, only security keys are taken, however they come; others that are stored count for nothing. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { changeGroup, createGroup } from "../../../src/domain/hosts/groups.ts";
import { createProfile } from "../../../src/domain/profiles/profiles.ts";
import { diagnoseUser } from "../../../src/domain/users/diagnosis.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { MINUTE } from "../../../src/shared/time/clock.ts";
import { sshKeys } from "../../../src/store/schema.ts";
import { foundKey, noteAdopted } from "../../support/adopter.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { insertHost } from "../../support/host-rows.ts";
import { freshKey, freshSecurityKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let count = 0;
const HOW = "`ssh-keygen -t ed25519-sk -O verify-required`";

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
  await createProfile(app.system, { name: "strong", kind: "shell", secondFactor: "verified" });
  await createProfile(app.system, { name: "plain", kind: "shell" });
});
beforeEach(() => app.clock.advance(MINUTE));
afterEach(() => app.host.faults.clear());
afterAll(() => app.close());

async function person() {
  const username = `factor-${++count}`;
  return { username, ...(await app.user(username)) };
}
const upload = (client: Client, key: string) => client.call("POST", "/me/keys", { name: "laptop", public_key: key });
const stored = (id: number) => app.db.$count(sshKeys, eq(sshKeys.userId, id));

test("with such a profile of their own, a user uploads security keys only, and is told how to make one", async () => {
  const { id, client, username } = await person();
  await updateUser(app.system, id, { profile: "strong" });
  const refused = await upload(client, freshKey());
  expect([refused.status, refused.headers.get("uam-error")]).toEqual([400, "key.type"]);
  expect(refused.body.error).toContain("the profile strong takes only security keys");
  expect(refused.body.error).toContain(HOW);
  expect([await stored(id), app.host.accounts.get(`ext_${username}`)?.file]).toEqual([0, []]);
  expect((await app.auditRows("key.create")).at(-1)).toMatchObject({ result: "failed" });
  expect((await upload(client, freshSecurityKey())).status).toBe(201);
  await updateUser(app.system, id, { profile: "plain" });
  expect((await upload(client, freshKey())).status).toBe(201);
});

test("so does one who comes to any host by a group that has it, and only as long", async () => {
  const { id, client } = await person();
  const web = await insertHost(app, "factor-web");
  const group = await createGroup(app.system, { name: "strong-ones", hosts: ["factor-web"], profile: "strong" });
  await admin.call("PUT", `/users/${id}/hosts`, { hosts: ["local"], groups: ["strong-ones"] });
  expect((await upload(client, freshKey())).body.error).toContain("the profile strong takes");
  await changeGroup(app.system, group.row.id, { profile: null });
  expect((await upload(client, freshKey())).status).toBe(201);
  expect(web.name).toBe("factor-web");
});

test("keys that were found are not confirmed, and the list says why", async () => {
  const { id } = await person();
  const key = foundKey("laptop");
  await noteAdopted(app, id, [key]);
  await updateUser(app.system, id, { profile: "strong" });
  const [listed] = (await admin.call("GET", `/users/${id}/found-keys`)).body.data.items;
  expect(listed).toMatchObject({ status: "found", refusal: expect.stringContaining(HOW) });
  const answer = await admin.call("POST", `/users/${id}/found-keys`, {
    answer: "confirm",
    fingerprints: [key.fingerprint],
  });
  expect([answer.status, answer.headers.get("uam-error"), await stored(id)]).toEqual([400, "key.type", 0]);
});

test("keys that were there stay stored, and the diagnosis says on which host they open nothing", async () => {
  const { id, client } = await person();
  await upload(client, freshKey());
  await insertHost(app, "factor-db");
  await admin.call("PUT", `/users/${id}/hosts`, { hosts: ["local", "factor-db"], groups: [] });
  expect((await diagnoseUser(app.system, id)).can).toBe(true);
  await updateUser(app.system, id, { profile: "strong" });
  const { can, because } = await diagnoseUser(app.system, id);
  const said = because.filter(({ reason }) => reason === "key_type");
  expect([can, said.map(({ text }) => text.includes("On factor-db")), await stored(id)]).toEqual([
    false,
    [false, true],
    1,
  ]);
  expect(said.every(({ text, remedy }) => text.includes("the profile strong takes") && remedy.includes(HOW))).toBe(
    true,
  );
  await upload(client, freshSecurityKey());
  const after = await diagnoseUser(app.system, id);
  const left = after.because.filter(({ reason }) => reason === "key_type").map(({ text }) => text);
  expect(left).toEqual([expect.stringContaining('The key "laptop"')]);
});
