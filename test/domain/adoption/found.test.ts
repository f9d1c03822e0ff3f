/** Keys that were found in adopted accounts, confirmed and dismissed. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { confirmKeys, dismissKeys, listFoundKeys, requireFoundKeys } from "../../../src/domain/adoption/found.ts";
import { revokeKey } from "../../../src/domain/keys/keys.ts";
import type { Context } from "../../../src/domain/operation/context.ts";
import { deleteUser, disableUser } from "../../../src/domain/users/users.ts";
import type { KeptKey } from "../../../src/protocol/adoption.ts";
import { foundKey, noteAdopted } from "../../support/adopter.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let context: Context;
let count = 0;

beforeAll(async () => {
  app = await createTestApp({ UAM_MAX_KEYS: "3" });
});
afterAll(() => app.close());
beforeEach(() => app.host.failing.clear());

/** A user whose account was adopted with these keys in it. */
async function adopted(keys: readonly KeptKey[]) {
  const username = `wendy-${++count}`;
  const { id, client } = await app.user(username);
  await noteAdopted(app, id, keys);
  context = { ...app.system, adopter: app.services.adopter };
  const file = () => app.host.accounts.get(`ext_${username}`)?.file;
  const statuses = async () => (await listFoundKeys(context, id)).map(({ status }) => status);
  return { id, username, client, file, statuses };
}

const fingerprints = (keys: readonly KeptKey[]) => keys.map(({ fingerprint }) => fingerprint);

/** A type that this service does not accept; ssh-keygen -t dsa made it. */
const DSA = {
  ...foundKey("old"),
  type: "ssh-dss",
  base64: Buffer.concat([Buffer.from([0, 0, 0, 7]), Buffer.from("ssh-dss")]).toString("base64"),
  fingerprint: `SHA256:${"d".repeat(43)}`,
};

describe("found keys", () => {
  test("listFoundKeys() names each key once with its file, what became of it, and why it cannot be stored", async () => {
    const [laptop, desk] = [foundKey("laptop"), foundKey("desk")];
    const { id } = await adopted([laptop, desk, { ...laptop, path: "/etc/keys/wendy" }, DSA]);
    await confirmKeys(context, id, [desk.fingerprint]);
    expect(await listFoundKeys(context, id)).toEqual([
      { ...laptop, status: "found", refusal: undefined },
      { ...desk, status: "stored", refusal: undefined },
      { ...DSA, status: "found", refusal: expect.stringContaining("ssh-dss") },
    ]);
  });

  test("listFoundKeys() is empty for an account that the service made, which requireFoundKeys() refuses", async () => {
    const { id } = await app.user("made-here");
    expect(await listFoundKeys(app.system, id)).toEqual([]);
    await expect(requireFoundKeys(context, id)).rejects.toThrow("The account of made-here was not adopted");
    await expect(requireFoundKeys(app.system, id)).rejects.toThrow("This needs root");
    await expect(listFoundKeys(context, 999_999)).rejects.toThrow("There is no user with the id 999999");
  });

  test("confirmKeys() stores all of several, each on record and in the file", async () => {
    const keys = [foundKey("laptop"), foundKey("desk")];
    const { id, username, file } = await adopted(keys);
    const stored = await confirmKeys(context, id, "all");
    expect(stored.map(({ name }) => name)).toEqual(["laptop", "desk"]);
    expect(file()).toEqual(fingerprints(keys));
    const records = (await app.auditRows("key.confirm")).filter(({ subjectId }) => subjectId === id);
    expect(records.map(({ result, resourceId }) => [result, resourceId])).toEqual(
      stored.map(({ id: key }) => ["success", String(key)]),
    );
    expect(await app.mails(`${username}@example.org`)).toHaveLength(3);
  });

  test("confirmKeys() stores none if one of them cannot be stored, on record", async () => {
    const [laptop, other] = [foundKey("laptop"), foundKey("other")];
    const someone = await adopted([other]);
    await confirmKeys(context, someone.id, "all");
    const { id, file } = await adopted([laptop, other, DSA, ...["a", "b", "c"].map((name) => foundKey(name))]);
    const unknown = foundKey("nobody").fingerprint;
    for (const [wanted, sentence] of [
      [[laptop.fingerprint, DSA.fingerprint], "ssh-dss"],
      [[laptop.fingerprint, other.fingerprint], "is already active on this host"],
      [[laptop.fingerprint, unknown], `No key with the fingerprint ${unknown} was found`],
      [[], "Give the fingerprint of at least one key"],
    ] as const) {
      await expect(confirmKeys(context, id, wanted)).rejects.toThrow(sentence);
      const failure = { result: "failed", subjectId: id, detail: { err: expect.stringContaining(sentence) } };
      expect(await app.lastAudit("key.confirm")).toMatchObject(failure);
    }
    const four = (await listFoundKeys(context, id)).filter(({ comment }) =>
      ["laptop", "a", "b", "c"].includes(comment),
    );
    await expect(confirmKeys(context, id, fingerprints(four))).rejects.toThrow("would have 4 keys, and may have 3");
    expect(file()).toEqual([]);
  });

  test("what is no fingerprint, such as a private key, is neither said again nor on record", async () => {
    const { id } = await adopted([foundKey("laptop")]);
    const secret = "-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXktdjE";
    for (const change of [confirmKeys, dismissKeys]) {
      const failure = await change(context, id, [secret]).catch((error: Error) => error.message);
      expect(failure).toBe("A fingerprint is as ssh-keygen -l prints it: SHA256: and 43 characters");
    }
    const rows = await app.auditRows();
    expect(rows.filter(({ detail }) => detail.includes("b3Blbn"))).toEqual([]);
  });

  test("a key that was revoked is not confirmed again, not even by a request that was under way", async () => {
    const laptop = foundKey("laptop");
    const { id, file, statuses } = await adopted([laptop]);
    const [key] = await confirmKeys(context, id, "all");
    await revokeKey(context, id, key?.id ?? 0);
    await expect(confirmKeys(context, id, [laptop.fingerprint])).rejects.toThrow("is or was a key of the user already");
    expect(await confirmKeys(context, id, "all")).toEqual([]);
    expect([file(), await statuses()]).toEqual([[], ["stored"]]);
  });

  test("of two who confirm or dismiss the same key at once, one does", async () => {
    for (const second of [confirmKeys, dismissKeys]) {
      const laptop = foundKey("laptop");
      const { id, file, statuses } = await adopted([laptop]);
      const both = await Promise.allSettled([
        confirmKeys(context, id, [laptop.fingerprint]),
        second(context, id, [laptop.fingerprint]),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      expect(file()).toEqual((await statuses())[0] === "stored" ? [laptop.fingerprint] : []);
    }
  });

  test("dismissKeys() is for good, on record, and all or nothing", async () => {
    const [laptop, desk] = [foundKey("laptop"), foundKey("desk")];
    const { id, username, statuses, file } = await adopted([laptop, desk]);
    const unknown = foundKey("nobody").fingerprint;
    await expect(dismissKeys(context, id, [laptop.fingerprint, unknown])).rejects.toThrow("was found");
    expect(await statuses()).toEqual(["found", "found"]);
    await dismissKeys(context, id, [laptop.fingerprint, laptop.fingerprint]);
    expect(await app.lastAudit("key.dismiss")).toMatchObject({
      ...{ result: "success", resourceId: String(id), subjectId: id },
      detail: { username, fingerprints: laptop.fingerprint },
    });
    await expect(confirmKeys(context, id, [laptop.fingerprint])).rejects.toThrow("was dismissed");
    await expect(dismissKeys(context, id, [laptop.fingerprint])).rejects.toThrow("was dismissed");
    await confirmKeys(context, id, "all");
    expect([file(), await statuses()]).toEqual([[desk.fingerprint], ["dismissed", "stored"]]);
  });

  test("a user who was disabled or deleted meanwhile gets no key, nor if the host refuses", async () => {
    const laptop = foundKey("laptop");
    const { id, file, statuses } = await adopted([laptop]);
    app.host.failing.add("writeKeys");
    await expect(confirmKeys(context, id, "all")).rejects.toThrow("The host refused");
    app.host.failing.clear();
    expect([file(), await statuses()]).toEqual([[], ["found"]]);
    await disableUser(context, id);
    await expect(confirmKeys(context, id, "all")).rejects.toThrow("only while the account is active");
    await deleteUser(context, id);
    await expect(confirmKeys(context, id, "all")).rejects.toThrow(`There is no user with the id ${id}`);
    await expect(dismissKeys(context, id, [laptop.fingerprint])).rejects.toThrow(`There is no user with the id ${id}`);
  });
});
