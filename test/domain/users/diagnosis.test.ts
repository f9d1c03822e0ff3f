import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { addAdmin } from "../../../src/domain/auth/administrators/add-admin.ts";
import { diagnoseUser } from "../../../src/domain/users/diagnosis.ts";
import type { Adopter } from "../../../src/protocol/adoption.ts";
import { DAY, HOUR, MINUTE, shift } from "../../../src/shared/time/clock.ts";
import { hosts } from "../../../src/store/schema-fleet.ts";
import { ADMIN_PASSWORD, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { insertHost } from "../../support/host-rows.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
});
beforeEach(() => app.clock.advance(MINUTE));
afterEach(() => {
  app.host.failing.clear();
  app.host.faults.clear();
  app.host.refusedTypes.clear();
  Object.assign(app.host.refusalsLogged, { refusals: [], since: undefined, unread: undefined });
});
afterAll(() => app.close());

/** A user with a key. */
async function person() {
  const username = `why-${++count}`;
  const made = await app.user(username);
  const { body } = await made.client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
  return { username, ...made, key: body.data as { readonly id: number; readonly fingerprint: string } };
}

const diagnosisOf = async (id: number, client = admin) => {
  const { status, body } = await client.call("GET", `/users/${id}/diagnosis`);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data as {
    readonly can: boolean;
    readonly because: readonly { readonly reason: string; readonly text: string; readonly remedy: string }[];
    readonly refused: readonly { readonly at: string; readonly from: string; readonly why: string }[];
    readonly log: { readonly read: boolean; readonly text: string };
  };
};
const reasonsOf = async (id: number) => {
  const { can, because } = await diagnosisOf(id);
  return [can, ...because.map(({ reason }) => reason)];
};

describe("diagnoseUser()", () => {
  test("says yes, and nothing else, where nothing keeps them out", async () => {
    const { id } = await person();
    expect(await diagnosisOf(id)).toEqual({
      ...{ can: true, because: [], refused: [] },
      log: { read: true, text: "sshd's log on the service's own host was read" },
    });
  });

  test("says by whom and since when they are disabled, and what to do", async () => {
    const { id, username } = await person();
    const at = app.clock.now().toISOString();
    await admin.call("POST", `/users/${id}/disable`);
    // Later records about them have not disabled them.
    await admin.call("PATCH", `/users/${id}`, { purpose: "another" });
    const { can, because } = await diagnosisOf(id);
    expect([can, because]).toEqual([
      false,
      [
        {
          reason: "disabled",
          text: `${username} has been disabled since ${at}, by admin`,
          remedy: `uam user enable ${username}, if the reason no longer holds: it is in what was recorded about them`,
        },
      ],
    ]);
  });

  test("says why they are disabled, in the words of whoever did it", async () => {
    const { id, username } = await person();
    await admin.call("POST", `/users/${id}/disable`, { reason: "left the \u200dproject" });
    const [cause] = (await diagnosisOf(id)).because;
    expect(cause?.text).toEndWith(", by admin: left the \\u200dproject");
    expect(cause?.remedy).toBe(`uam user enable ${username}, if the reason no longer holds`);
  });

  test("says nothing of a lock that came after somebody else had disabled them, and was refused", async () => {
    const { id, client } = await person();
    await admin.call("POST", `/users/${id}/disable`, { reason: "Left" });
    expect((await client.call("POST", "/me/lock")).status).toBe(409);
    expect(await app.lastAudit("user.lock")).toMatchObject({ result: "failed", subjectId: id });
    expect((await diagnosisOf(id)).because[0]?.text).toEndWith(", by admin: Left");
  });

  test("says who disabled them where the host could not do all of it", async () => {
    const { id } = await person();
    app.host.failing.add("shutAccount");
    expect((await admin.call("POST", `/users/${id}/disable`, { reason: "Left" })).status).toBe(500);
    app.host.failing.clear();
    expect((await diagnosisOf(id)).because[0]?.text).toEndWith(", by admin: Left");
  });

  test("says that they locked their own account", async () => {
    const { id, client } = await person();
    await client.call("POST", "/me/lock");
    expect((await diagnosisOf(id)).because[0]?.text).toEndWith('by themselves, with "This was not me"');
  });

  test("names the expiry, and that of somebody who is disabled, too", async () => {
    const { id, username } = await person();
    app.clock.advance(91 * DAY);
    admin = await app.admin();
    expect(await reasonsOf(id)).toEqual([false, "expired"]);
    expect((await diagnosisOf(id)).because[0]?.remedy).toBe(`uam user extend ${username}`);
    const other = await person();
    await admin.call("POST", `/users/${other.id}/disable`);
    app.clock.advance(121 * DAY);
    admin = await app.admin();
    expect(await reasonsOf(other.id)).toEqual([false, "disabled", "expired"]);
    expect((await diagnosisOf(other.id)).because[1]?.remedy).toContain("the recycle period is over");
  });

  test("names missing keys, and keys that the host refuses", async () => {
    const { id, client, key } = await person();
    app.host.refusedTypes.add("ssh-ed25519");
    const { can, because } = await diagnosisOf(id);
    expect([can, because.map(({ reason }) => reason)]).toEqual([false, ["key_type"]]);
    expect(because[0]?.text).toContain(`"laptop" (${key.fingerprint}) opens nothing`);
    await client.call("DELETE", `/me/keys/${key.id}`);
    expect(await reasonsOf(id)).toEqual([false, "no_keys"]);
  });

  test("names networks: with some they can log in from there, with none in common from nowhere", async () => {
    const { id, client, key } = await person();
    await admin.call("PATCH", `/users/${id}`, { source_networks: ["192.0.2.0/24"] });
    const narrowed = await diagnosisOf(id);
    expect([narrowed.can, narrowed.because.map(({ text }) => text)]).toEqual([
      true,
      ['The key "laptop" may be used only from 192.0.2.0/24'],
    ]);
    await client.call("PATCH", `/me/keys/${key.id}`, { name: "laptop", source_networks: ["192.0.2.0/25"] });
    await admin.call("PATCH", `/users/${id}`, { source_networks: ["198.51.100.0/24"] });
    expect(await reasonsOf(id)).toEqual([false, "networks"]);
  });

  test("names hours that are over, also where only logins end with them, a start that has not come, and that they have to ask", async () => {
    const { id, username } = await person();
    const now = app.clock.now();
    // One hour on the day before yesterday: five days until it comes again.
    const day = (["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const)[shift(now, -2 * DAY).getUTCDay()];
    const hours = { zone: "UTC", windows: [{ days: [day], from: "08:00", to: "09:00" }] };
    const next = `${shift(now, 5 * DAY)
      .toISOString()
      .slice(0, 10)}T08:00:00.000Z`;
    for (const hours_end of ["sessions", "logins"]) {
      expect((await admin.call("PATCH", `/users/${id}`, { hours, hours_end })).status).toBe(200);
      expect(await reasonsOf(id)).toEqual([false, "outside_hours"]);
    }
    expect((await diagnosisOf(id)).because[0]?.text).toBe(
      `It is outside the hours of ${username}, or of their company; the next begin at ${next}`,
    );
    const onRequest = { hours: null, on_request: { rule: "sponsor", max_hours: 4 }, sponsor_email: "bo@example.com" };
    expect((await admin.call("PATCH", `/users/${id}`, onRequest)).status).toBe(200);
    expect(await reasonsOf(id)).toEqual([false, "on_request"]);
    const starts_at = shift(now, DAY).toISOString();
    const later = { username: `${username}-later`, email: "later@example.org", starts_at };
    const { body } = await admin.call("POST", "/users", later);
    const { can, because } = await diagnosisOf((body.data as { id: number }).id);
    expect([can, because.map(({ text }) => text)]).toEqual([
      false,
      [`${username}-later has no active key`, `Access begins at ${starts_at}`],
    ]);
  });

  test("says that keys which were found in an adopted account can be confirmed", async () => {
    const { body } = await admin.call("POST", "/users", { username: "adopted", email: "adopted@example.org" });
    const { id } = body.data as { id: number };
    const remedyWith = async (keys: readonly unknown[]) => {
      const adopter = { adoption: () => ({ keys }) } as unknown as Adopter;
      return (await diagnoseUser({ ...app.system, adopter }, id)).because[0]?.remedy;
    };
    expect(await remedyWith([])).toBe("they add one themselves in the browser, under Keys; nobody else can");
    expect(await remedyWith([{}])).toStartWith("uam key found adopted lists those that were found in the account");
  });

  test("names a closing that is outstanding, and a deletion", async () => {
    const { id } = await person();
    app.host.failing.add("shutAccount");
    await admin.call("POST", `/users/${id}/disable`);
    expect(await reasonsOf(id)).toEqual([false, "disabled"]);
    const other = await person();
    app.host.failing.add("removeAccount");
    await admin.call("DELETE", `/users/${other.id}`);
    expect(await reasonsOf(other.id)).toEqual([false, "deleting", "disabled"]);
  });

  test("names an account that is missing or foreign, shut or not", async () => {
    const { id, username } = await person();
    const account = app.host.accounts.get(`ext_${username}`);
    await admin.call("POST", `/users/${id}/disable`);
    app.host.accounts.delete(`ext_${username}`);
    expect(await reasonsOf(id)).toEqual([false, "disabled", "account_missing"]);
    app.host.accounts.set(`ext_${username}`, { uid: 1, open: true, expireAt: new Date(), file: [] });
    expect(await reasonsOf(id)).toEqual([false, "disabled", "account_foreign"]);
    if (account !== undefined) app.host.accounts.set(`ext_${username}`, account);
  });

  test("takes over what the host shows, that which keeps them out first", async () => {
    const { id, username } = await person();
    const fault = { text: "sshd's \u001b[2JAllowUsers", remedy: "add it" } as const;
    app.host.faults.set(`ext_${username}`, [
      { ...fault, reason: "account_group", blocks: false },
      { ...fault, reason: "sshd", blocks: true },
    ]);
    const { can, because } = await diagnosisOf(id);
    expect([can, because.map(({ reason }) => reason)]).toEqual([false, ["sshd", "account_group"]]);
    expect(because[0]?.text).toBe("sshd's \\x1b[2JAllowUsers");
  });

  test("says that the host could not be asked, instead of finding nothing", async () => {
    const { id } = await person();
    app.host.failing.add("loginFaults").add("refusals");
    expect(await diagnosisOf(id)).toEqual({
      can: true,
      because: [{ reason: "unchecked", text: "The host refused: loginFaults", remedy: "uam doctor says more" }],
      refused: [],
      log: { read: false, text: "sshd's log was not read: The host refused: refusals" },
    });
  });

  test("says that a dry run lets nobody in", async () => {
    const { id } = await person();
    const host = { ...app.host, mode: "dry-run" } as const;
    const { can, because } = await diagnoseUser({ ...app.system, host }, id);
    expect([can, because.map(({ reason }) => reason)]).toEqual([false, ["dry_run"]]);
  });

  test("quotes refused logins without what a terminal obeys, and says how far it read", async () => {
    const { id } = await person();
    const at = new Date("2026-11-20T08:00:00.000Z");
    const refused = { at, from: "192.0.2.7", why: "Invalid \u001b]0;x\u0007<b>\u202e" };
    Object.assign(app.host.refusalsLogged, { refusals: [refused], since: at });
    const { refused: shown, log } = await diagnosisOf(id);
    expect(shown).toEqual([{ ...refused, at: at.toISOString(), why: "Invalid \\x1b]0;x\\x07<b>\\u202e" }]);
    expect(log).toEqual({
      read: true,
      text: `sshd's log on the service's own host was read back to ${at.toISOString()}; older lines were not`,
    });
    Object.assign(app.host.refusalsLogged, { refusals: [], unread: "This host has no journal" });
    expect((await diagnosisOf(id)).log).toEqual({
      read: false,
      text: "sshd's log was not read: This host has no journal",
    });
  });

  test("further hosts: one that lets them in is enough, and each of the others is named", async () => {
    const { id, username } = await person();
    const web1 = await insertHost(app, "web1", { groups: ["default"] });
    await insertHost(app, "web2", { groups: ["default"], appliedId: 0 });
    await insertHost(app, "web3", { groups: ["default"], leaseUntil: new Date(0) });
    const all = await diagnosisOf(id);
    expect([all.can, all.because.map(({ reason, text }) => [reason, text.includes("web1")])]).toEqual([
      true,
      [
        ["host_pending", false],
        ["host_problem", false],
      ],
    ]);
    expect(all.log.text).toContain("Further hosts keep their own log");
    app.host.faults.set(`ext_${username}`, [{ reason: "nologin", text: "shut", remedy: "open", blocks: true }]);
    expect((await diagnosisOf(id)).can).toBe(true);
    await admin.call("PUT", `/users/${id}/hosts`, { hosts: ["web2", "web3"], groups: [] });
    expect((await diagnosisOf(id)).can).toBe(false);
    expect(web1.name).toBe("web1");
  });

  test("further hosts that may let in whoever was shut, or has lost them, are named with the end of their lease", async () => {
    // Those of other tests are over.
    await app.db.update(hosts).set({ leaseUntil: new Date(0) });
    const { id, username } = await person();
    const until = shift(app.clock.now(), HOUR);
    await insertHost(app, "cut1", { groups: ["default"], appliedId: 0, leaseUntil: until });
    await insertHost(app, "cut2", { groups: ["default"], appliedId: 0, leaseUntil: until });
    await insertHost(app, "over", { groups: ["default"], appliedId: 0, leaseUntil: new Date(0) });
    const openOf = async () => {
      const { can, because } = await diagnosisOf(id);
      const open = because.filter(({ reason }) => reason === "host_open");
      return [can, ...open.map(({ text, remedy }) => [text, remedy.includes(`uam lock ${username}`)])];
    };
    const said = (name: string) => [
      `${name} has not confirmed that access was taken away, and may let them in until ${until.toISOString()} at the latest`,
      true,
    ];
    expect((await openOf()).slice(1)).toEqual([]);
    await admin.call("PUT", `/users/${id}/hosts`, { hosts: ["local", "cut2"], groups: [] });
    expect(await openOf()).toEqual([true, said("cut1")]);
    await admin.call("POST", `/users/${id}/disable`);
    expect(await openOf()).toEqual([false, said("cut2"), said("cut1")]);
    app.clock.set(until);
    admin = await app.admin();
    expect(await openOf()).toEqual([false]);
  });

  test("further hosts whose groups' hours are over are named, one by one", async () => {
    // Those of other tests are over.
    await app.db.update(hosts).set({ leaseUntil: new Date(0) });
    const { id } = await person();
    const now = app.clock.now();
    const tomorrow = (["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const)[shift(now, DAY).getUTCDay()];
    const windows = [{ days: [tomorrow], from: "08:00", to: "09:00" }];
    for (const name of ["night", "always"])
      expect((await admin.call("POST", "/host-groups", { name })).status).toBe(201);
    await insertHost(app, "late1", { groups: ["always"] });
    await insertHost(app, "late2", { groups: ["always", "night"], leaseUntil: shift(now, 9 * DAY) });
    await admin.call("PUT", `/users/${id}/hosts`, { hosts: [], groups: ["always"] });
    expect(await reasonsOf(id)).toEqual([true]);
    const [night] = (await admin.call("GET", "/host-groups")).body.data.items.filter(
      ({ name }: { name: string }) => name === "night",
    );
    const narrowed = await admin.call("PATCH", `/host-groups/${night.id}`, { hours: { zone: "UTC", windows } });
    expect(narrowed.status).toBe(200);
    const within = await diagnosisOf(id);
    const next = `${shift(now, DAY).toISOString().slice(0, 10)}T08:00:00.000Z`;
    expect([within.can, within.because.map(({ reason, text }) => [reason, text])]).toEqual([
      true,
      [["outside_hours", `On late2 it is outside the hours of a group of hosts; the next begin at ${next}`]],
    ]);
    await admin.call("PUT", `/users/${id}/hosts`, { hosts: ["late2"], groups: [] });
    expect((await diagnosisOf(id)).can).toBe(false);
    app.clock.set(new Date(next));
    admin = await app.admin();
    expect(await reasonsOf(id)).toEqual([true]);
  });

  test("is there for operators and auditors, and says 404 of nobody", async () => {
    const { id } = await person();
    await addAdmin(app.system, "op", "op@example.org", ADMIN_PASSWORD, "operator");
    const operator = app.anonymous();
    await operator.call("POST", "/auth/admin/login", { username: "op", password: ADMIN_PASSWORD });
    expect((await diagnosisOf(id, operator)).can).toBeBoolean();
    expect((await admin.call("GET", "/users/999999/diagnosis")).status).toBe(404);
  });
});
