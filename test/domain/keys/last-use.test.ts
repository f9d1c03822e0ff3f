import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { noteKeyUse } from "../../../src/domain/keys/last-use.ts";
import { DAY, HOUR, MINUTE } from "../../../src/shared/time/clock.ts";
import { loginLogs } from "../../../src/store/schema.ts";
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
afterEach(() => {
  app.host.failing.clear();
  app.host.loginsLogged.length = 0;
});
afterAll(() => app.close());

async function person(keys = 1) {
  const username = `used-${++count}`;
  const made = await app.user(username);
  const added = [];
  for (let index = 0; index < keys; index++) {
    const { body } = await made.client.call("POST", "/me/keys", { name: `k${index}`, public_key: freshKey() });
    added.push(body.data as { readonly id: number; readonly fingerprint: string; readonly public_key: string });
  }
  const [first] = added;
  if (first === undefined) throw new Error("no key");
  return { username, account: `ext_${username}`, ...made, first, added };
}
const later = (milliseconds: number) => new Date(app.clock.now().getTime() + milliseconds);
const log = (account: string, fingerprint: string, at: Date, from = "192.0.2.7") =>
  void app.host.loginsLogged.push({ account, fingerprint, at, from });
const run = (signal = new AbortController().signal) => noteKeyUse(app.services, signal);
/** Every key of the user that was ever used: its id, when, and from where. */
const uses = async (userId: number) =>
  (
    await app.db.execute<{ id: number; at: string; from: string }>(
      `select id::int, to_char(last_used_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, last_used_from as from
       from ssh_keys where user_id = ${userId} and last_used_at is not null order by id`,
    )
  ).map(({ id, at, from }) => [id, at, from]);

describe("noteKeyUse()", () => {
  test("notes the last use of each key, which its owner and the administrators then see", async () => {
    const { client, id, account, first, added } = await person(2);
    const unused = (await client.call("GET", "/me/keys")).body.data.items[0];
    expect([unused.last_used_at, unused.last_used_from]).toEqual([null, ""]);
    log(account, first.fingerprint, later(HOUR));
    log(account, first.fingerprint, later(2 * HOUR), "2001:db8::7");
    log(account, first.fingerprint, later(MINUTE), "192.0.2.8");
    const at = later(2 * HOUR).toISOString();
    await run();
    for (const [caller, path] of [
      [client, "/me/keys"],
      [admin, `/users/${id}/keys`],
    ] as const) {
      const { items } = (await caller.call("GET", path)).body.data;
      expect(items.map((key: Record<string, unknown>) => [key.id, key.last_used_at, key.last_used_from])).toEqual([
        [first.id, at, "2001:db8::7"],
        [added[1]?.id, null, ""],
      ]);
    }
  });

  test("never moves a last use back, however often a piece of the log is read", async () => {
    const { id, account, first } = await person();
    log(account, first.fingerprint, later(2 * HOUR));
    await run();
    const noted = await uses(id);
    log(account, first.fingerprint, later(HOUR), "192.0.2.9");
    log(account, first.fingerprint, later(2 * HOUR), "192.0.2.9");
    await run();
    expect(await uses(id)).toEqual(noted);
  });

  test("attributes a login only to the account's own key, and to the one that it then was", async () => {
    const one = await person();
    const other = await person();
    // Somebody else's key, nobody's key, nobody's account, and before the key was there.
    log(other.account, one.first.fingerprint, later(HOUR));
    log(one.account, `SHA256:${"x".repeat(43)}`, later(HOUR));
    log("ext_nobody-here", one.first.fingerprint, later(HOUR));
    log(one.account, one.first.fingerprint, later(-DAY));
    await run();
    expect([await uses(one.id), await uses(other.id)]).toEqual([[], []]);

    // Revoked, and uploaded again.
    const before = later(MINUTE);
    app.clock.advance(HOUR);
    await one.client.call("DELETE", `/me/keys/${one.first.id}`);
    const again = await one.client.call("POST", "/me/keys", { name: "again", public_key: one.first.public_key });
    const after = later(MINUTE);
    log(one.account, one.first.fingerprint, after);
    log(one.account, one.first.fingerprint, before, "192.0.2.1");
    await run();
    expect(await uses(one.id)).toEqual([
      [one.first.id, before.toISOString(), "192.0.2.1"],
      [again.body.data.id, after.toISOString(), "192.0.2.7"],
    ]);
  });

  test("goes on from where it was, and stays there if the host cannot be asked", async () => {
    const place = async () => (await app.db.select().from(loginLogs))[0]?.next;
    await run();
    const next = Number(await place());
    await run();
    expect(Number(await place())).toBe(next + 1);
    app.host.failing.add("logins");
    await expect(run()).rejects.toThrow("The host refused: logins");
    expect(Number(await place())).toBe(next + 1);
  });

  test("stopped in the middle, reads the same piece again", async () => {
    const { id, account, first } = await person();
    await run();
    const [before] = await app.db.select().from(loginLogs);
    log(account, first.fingerprint, later(HOUR));
    await run(AbortSignal.abort());
    expect([await uses(id), (await app.db.select().from(loginLogs))[0]]).toEqual([[], before]);
  });

  test("takes a flood of logins, and leaves no record of any in the audit log", async () => {
    const { id, account, first } = await person();
    for (let index = 0; index < 5000; index++) log(account, first.fingerprint, later(index));
    const at = later(4999).toISOString();
    const records = (await app.auditRows()).length;
    await run();
    expect(await uses(id)).toEqual([[first.id, at, "192.0.2.7"]]);
    expect((await app.auditRows()).length).toBe(records);
  });
});
