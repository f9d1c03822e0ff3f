/** Where a profile asks for proof of the make of keys, no other key opens anything, however it came; and proof counts once, for one user. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import { changeGroup, createGroup } from "../../../src/domain/hosts/groups.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { createProfile } from "../../../src/domain/profiles/profiles.ts";
import { previewProfile, updateProfile } from "../../../src/domain/profiles/update.ts";
import { diagnoseUser } from "../../../src/domain/users/diagnosis.ts";
import { previewUserProfile } from "../../../src/domain/users/set-profile.ts";
import { updateUser } from "../../../src/domain/users/update.ts";
import { MINUTE, SECOND } from "../../../src/shared/time/clock.ts";
import { sshKeys } from "../../../src/store/schema.ts";
import { usedTickets } from "../../../src/store/schema-passkeys.ts";
import { foundKey, noteAdopted } from "../../support/adopter.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { type Amiss, type Authority, makeAttestedKey, makeAuthority } from "../../support/attestation.ts";
import { insertHost } from "../../support/host-rows.ts";
import { freshKey, freshSecurityKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let count = 0;
let issuers: Authority[] = [];
const maker = makeAuthority("Soft Keys Root CA");

beforeAll(async () => {
  app = await createTestApp();
  Object.assign(app.services, { attestationIssuers: () => issuers.map(({ certificate }) => certificate) });
  admin = await app.admin();
  const strong = { kind: "shell", secondFactor: "verified" } as const;
  await createProfile(app.system, { name: "proven", ...strong, attestation: "required" });
  await createProfile(app.system, { name: "verified", ...strong });
});
beforeEach(() => {
  app.clock.advance(MINUTE);
  issuers = [maker];
});
afterEach(() => app.host.failing.clear());
afterAll(() => app.close());

async function person(profile: string | null = "proven") {
  const username = `proof-${++count}`;
  const { id, client } = await app.user(username);
  if (profile !== null) await updateUser(app.system, id, { profile });
  return { id, client, username, file: () => app.host.accounts.get(`ext_${username}`)?.file };
}

async function challengeOf(client: Client): Promise<string> {
  const answer = await client.call("GET", "/me/keys/challenge");
  expect(answer.status).toBe(200);
  return answer.body.data.challenge;
}

/** The body of an upload with proof, made for the challenge. */
function provenKey(challenge: string, amiss: Amiss = {}, by = maker) {
  const { publicKey, statement } = makeAttestedKey(by, Buffer.from(challenge, "base64"), amiss);
  return { name: "token", public_key: publicKey, attestation: { challenge, statement: statement.toString("base64") } };
}

const upload = (client: Client, body: object) => client.call("POST", "/me/keys", body);
const stored = (id: number) => app.db.$count(sshKeys, eq(sshKeys.userId, id));
const refused = ({ status, headers }: Awaited<ReturnType<typeof upload>>) => [status, headers.get("uam-error")];

test("a challenge is new each time, says until when it counts, and stores nothing", async () => {
  const { client } = await person();
  const { challenge, expires_at, command } = (await client.call("GET", "/me/keys/challenge")).body.data;
  expect(new Date(expires_at).getTime() - app.clock.now().getTime()).toBe(30 * MINUTE);
  expect(command).toBe(
    "ssh-keygen -t ed25519-sk -O verify-required -O challenge=uam-challenge -O write-attestation=uam-attestation",
  );
  expect(Buffer.from(challenge, "base64").length).toBeGreaterThanOrEqual(64);
  expect(await challengeOf(client)).not.toBe(challenge);
  expect(await app.db.$count(usedTickets)).toBe(0);
  expect((await app.anonymous().call("GET", "/me/keys/challenge")).status).toBe(401);
});

test("a proven key is stored with its make, shown to its owner and to administrators, and on record", async () => {
  const { id, client, file } = await person();
  const answer = await upload(client, provenKey(await challengeOf(client)));
  const make = {
    model: "CN=Soft Key 5, OU=Authenticator Attestation, O=Soft Keys AB, C=SE",
    aaguid: "73bb0cd4-e502-49b8-9c6f-b59445bf720b",
  };
  expect(answer.status).toBe(201);
  expect(answer.body.data).toMatchObject(make);
  expect((await client.call("GET", "/me/keys")).body.data.items).toMatchObject([make]);
  expect((await admin.call("GET", `/users/${id}/keys`)).body.data.items).toMatchObject([make]);
  expect((await app.lastAudit("key.create")).detail).toMatchObject(make);
  expect(file()).toEqual([answer.body.data.fingerprint]);
  expect((await diagnoseUser(app.system, id)).can).toBe(true);
});

test("where it is required, a key without proof is refused, and told from one that is no security key", async () => {
  const { id, client, file } = await person();
  const plain = await upload(client, { name: "token", public_key: freshSecurityKey() });
  expect(refused(plain)).toEqual([400, "key.attestation_missing"]);
  expect(plain.body.error).toContain("the profile proven takes only security keys whose make is proven");
  expect(refused(await upload(client, { name: "laptop", public_key: freshKey() }))).toEqual([400, "key.type"]);
  expect([await stored(id), file()]).toEqual([0, []]);
  const other = await person("verified");
  expect((await upload(other.client, { name: "token", public_key: freshSecurityKey() })).body.data.model).toBeNull();
});

test("proof that is wrong changes nothing, and leaves the challenge for the right one", async () => {
  const { id, client } = await person(null);
  const before = await app.db.$count(usedTickets);
  const challenge = await challengeOf(client);
  const right = provenKey(challenge);
  const wrongs = [
    provenKey(challenge, { saidApplication: "ssh:other" }),
    provenKey(challenge, {}, makeAuthority("Soft Keys Root CA")),
    { ...right, public_key: freshSecurityKey() },
    { ...right, attestation: { ...right.attestation, statement: "!" } },
    { ...right, attestation: { ...right.attestation, statement: "" } },
    { ...right, public_key: freshKey() },
  ];
  for (const wrong of wrongs) expect(refused(await upload(client, wrong))).toEqual([400, "key.attestation_wrong"]);
  issuers = [];
  expect((await upload(client, right)).body.error).toContain("nobody who is trusted on this service's host");
  issuers = [maker];
  const huge = { ...right, attestation: { ...right.attestation, statement: "A".repeat(12_001) } };
  expect((await upload(client, huge)).status).toBe(400);
  expect([await stored(id), await app.db.$count(usedTickets)]).toEqual([0, before]);
  expect((await upload(client, right)).status).toBe(201);
});

test("a challenge counts for one user, once, and for half an hour", async () => {
  const [one, other] = [await person(), await person()];
  const challenge = await challengeOf(one.client);
  expect(refused(await upload(other.client, provenKey(challenge)))).toEqual([400, "key.challenge"]);
  expect(refused(await upload(one.client, provenKey(randomBytes(96).toString("base64"))))).toEqual([
    400,
    "key.challenge",
  ]);
  expect((await upload(one.client, provenKey(challenge))).status).toBe(201);
  expect(refused(await upload(one.client, provenKey(challenge)))).toEqual([400, "key.challenge"]);
  const late = await challengeOf(one.client);
  app.clock.advance(30 * MINUTE - SECOND);
  const last = await challengeOf(one.client);
  expect((await upload(one.client, provenKey(late))).status).toBe(201);
  app.clock.advance(30 * MINUTE);
  expect(refused(await upload(one.client, provenKey(last)))).toEqual([400, "key.challenge"]);
});

test("of two uploads with one challenge at the same instant one is stored", async () => {
  const { id, client } = await person();
  const challenge = await challengeOf(client);
  const answers = await Promise.all([provenKey(challenge), provenKey(challenge)].map((body) => upload(client, body)));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 400]);
  expect(await stored(id)).toBe(1);
});

test("who was disabled since the challenge adds nothing", async () => {
  const { id, client } = await person();
  const key = provenKey(await challengeOf(client));
  await admin.call("POST", `/users/${id}/disable`);
  const answer = await upload(client, key);
  expect([answer.status >= 400, await stored(id)]).toEqual([true, 0]);
});

test("a profile that asks for it from now on leaves other keys stored, out of the file, and ends what they opened", async () => {
  const profile = await createProfile(app.system, { name: "turning", kind: "shell", secondFactor: "verified" });
  const { id, client, username, file } = await person("turning");
  const plain = (await upload(client, { name: "old", public_key: freshSecurityKey() })).body.data.fingerprint;
  const proven = (await upload(client, provenKey(await challengeOf(client)))).body.data.fingerprint;
  const preview = await previewProfile(app.system, profile.row.id, { attestation: "required" });
  expect(preview.effects).toContain("Keys without proof of their make open nothing by it; 1 such key is stored.");
  app.host.calls.length = 0;
  await updateProfile(app.system, profile.row.id, { attestation: "required" });
  const account = `ext_${username}`;
  expect(app.host.calls.filter((call) => call.endsWith(account))).toEqual([
    `narrowKeys ${account}`,
    `narrowProfile ${account}`,
    `narrowKeys ${account}`,
  ]);
  expect([file(), await stored(id)]).toEqual([[proven], 2]);
  expect((await app.lastAudit("profile.update")).detail).toMatchObject({
    attestation: "required",
    old_attestation: "",
  });
  const { can, because } = await diagnoseUser(app.system, id);
  expect([can, because.map(({ text }) => text)]).toEqual([
    true,
    [
      expect.stringContaining(
        `The key "old" (${plain}) opens nothing: the profile turning takes only security keys whose`,
      ),
    ],
  ]);
  await client.call("DELETE", `/me/keys/${(await client.call("GET", "/me/keys")).body.data.items[1].id}`);
  const after = await diagnoseUser(app.system, id);
  expect([after.can, after.because.map(({ reason }) => reason), file()]).toEqual([false, ["key_type"], []]);
  // The other way it is a grant.
  await updateProfile(app.system, profile.row.id, { attestation: "none" });
  expect([file(), (await diagnoseUser(app.system, id)).can]).toEqual([[plain], true]);
});

test("so does giving somebody such a profile, and what cannot be ended is owed", async () => {
  const { id, client, username, file } = await person("verified");
  await upload(client, { name: "old", public_key: freshSecurityKey() });
  const { effects } = await previewUserProfile(app.system, id, "proven");
  expect(effects).toContain("Keys without proof of their make open nothing by it; 1 such key is stored.");
  app.host.failing.add("narrowKeys");
  const changed = updateUser(app.system, id, { profile: "proven" });
  expect(await changed.catch(({ message }: Error) => message)).toContain(`refused: narrowKeys of ext_${username}`);
  expect(file()).toHaveLength(1);
  app.host.failing.clear();
  app.clock.advance(2 * MINUTE);
  await finishClosings(app.system);
  expect([file(), await stored(id)]).toEqual([[], 1]);
});

test("a group's profile asks for it on its hosts, and the narrower of two counts", async () => {
  const { id, client } = await person("verified");
  await upload(client, { name: "old", public_key: freshSecurityKey() });
  await insertHost(app, "proof-db");
  const group = await createGroup(app.system, { name: "proof-hosts", hosts: ["proof-db"], profile: "proven" });
  await admin.call("PUT", `/users/${id}/hosts`, { hosts: ["local"], groups: ["proof-hosts"] });
  const { can, because } = await diagnoseUser(app.system, id);
  const said = because.filter(({ reason }) => reason === "key_type").map(({ text }) => text);
  expect([can, said]).toEqual([
    true,
    ["On proof-db: none of their keys is a security key whose make is proven, and the profile proven takes no other"],
  ]);
  const own = (await client.call("GET", "/me/hosts")).body.data.items;
  const asked = own.map(({ name, ssh }: { name: string; ssh: { profile: { attestation: string } } | null }) => [
    name,
    ssh?.profile.attestation,
  ]);
  expect(asked).toContainEqual(["local", "none"]);
  await changeGroup(app.system, group.row.id, { profile: null });
  expect((await diagnoseUser(app.system, id)).because.map(({ reason }) => reason)).not.toContain("key_type");
});

test("keys that were found cannot be confirmed where it is required: nobody asked them for proof", async () => {
  const { id } = await person(null);
  const key = foundKey("laptop", freshSecurityKey());
  await noteAdopted(app, id, [key]);
  await updateUser(app.system, id, { profile: "proven" });
  const [listed] = (await admin.call("GET", `/users/${id}/found-keys`)).body.data.items;
  expect(listed.refusal).toContain("takes only security keys whose make is proven");
  const answer = await admin.call("POST", `/users/${id}/found-keys`, {
    ...{ answer: "confirm", fingerprints: [key.fingerprint] },
  });
  expect([...refused(answer), await stored(id)]).toEqual([400, "key.attestation_missing", 0]);
});
