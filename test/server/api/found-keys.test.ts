/** /users/:id/found-keys: what is shown, asked and refused. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { foundKey, noteAdopted } from "../../support/adopter.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
});
afterAll(() => app.close());

async function adopted(...names: readonly string[]) {
  const { id, client } = await app.user(`wendy-${++count}`);
  const keys = names.map((name) => foundKey(name));
  await noteAdopted(app, id, keys);
  return { id, client, keys, path: `/users/${id}/found-keys` };
}

describe("found keys over the API", () => {
  test("are listed with their file, confirmed and dismissed; each answer is the list as it is then", async () => {
    const { keys, path } = await adopted("laptop", "desk");
    const [laptop, desk] = keys;
    const shown = keys.map(({ fingerprint, comment }) => ({
      ...{ fingerprint, comment, type: "ssh-ed25519", options: "", refusal: "" },
      ...{ found_in: "/home/wendy/.ssh/authorized_keys", status: "found" },
    }));
    expect((await admin.call("GET", path)).body.data).toEqual({ items: shown });
    const confirmed = await admin.call("POST", path, { answer: "confirm", fingerprints: [laptop?.fingerprint] });
    expect(confirmed.body.data.items.map(({ status }: { status: string }) => status)).toEqual(["stored", "found"]);
    const dismissed = await admin.call("POST", path, { answer: "dismiss", fingerprints: [desk?.fingerprint] });
    expect([dismissed.status, dismissed.body.data]).toEqual([200, (await admin.call("GET", path)).body.data]);
    expect(dismissed.body.data.items.map(({ status }: { status: string }) => status)).toEqual(["stored", "dismissed"]);
    expect(await app.lastAudit("key.confirm")).toMatchObject({ actor: "admin", actorType: "admin" });
    expect(await app.lastAudit("key.dismiss")).toMatchObject({ actor: "admin", actorType: "admin" });
  });

  test("what is wrong is refused, recorded, and changes nothing", async () => {
    const { path, keys, id } = await adopted("laptop");
    const fingerprints = keys.map(({ fingerprint }) => fingerprint);
    const unknown = foundKey("nobody").fingerprint;
    for (const [body, status, reason] of [
      [{ fingerprints }, 400, "request.invalid"],
      [{ answer: "keep", fingerprints }, 400, "request.invalid"],
      [{ answer: "confirm", fingerprints: [] }, 400, "request.invalid"],
      [{ answer: "confirm", fingerprints: ["-----BEGIN OPENSSH PRIVATE KEY-----"] }, 400, "request.invalid"],
      [{ answer: "confirm", fingerprints: Array(101).fill(unknown) }, 400, "request.invalid"],
      [{ answer: "confirm", fingerprints: [unknown] }, 404, "key.missing"],
    ] as const) {
      const answer = await admin.call("POST", path, body);
      expect([answer.status, answer.headers.get("uam-error")]).toEqual([status, reason]);
      expect(await app.lastAudit("key.confirm")).toMatchObject({ result: "failed", actor: "admin" });
      expect(answer.text + JSON.stringify(await app.lastAudit("key.confirm"))).not.toContain("PRIVATE");
    }
    app.host.refusedTypes.add("ssh-ed25519");
    const refused = await admin.call("POST", path, { answer: "confirm", fingerprints });
    app.host.refusedTypes.clear();
    expect([refused.status, refused.headers.get("uam-error")]).toEqual([400, "key.type"]);
    expect((await admin.call("GET", `/users/${id}/keys`)).body.data.items).toEqual([]);
  });

  test("an account that the service made has none, and there is nothing to answer", async () => {
    await adopted("laptop");
    const { id } = await app.user("made-here");
    expect((await admin.call("GET", `/users/${id}/found-keys`)).body.data).toEqual({ items: [] });
    const body = { answer: "confirm", fingerprints: [foundKey("nobody").fingerprint] };
    const answer = await admin.call("POST", `/users/${id}/found-keys`, body);
    expect([answer.status, answer.headers.get("uam-error")]).toEqual([409, "state.conflict"]);
    expect((await admin.call("GET", "/users/999999/found-keys")).status).toBe(404);
  });
});
