/** Narrowing a company: what its users have beyond it is taken away, whatever happens on the way, and from nobody else. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { finishNarrowings } from "../../../src/domain/companies/narrowing.ts";
import { createGroup } from "../../../src/domain/hosts/groups.ts";
import { uploadKey } from "../../../src/domain/keys/keys.ts";
import { finishClosings } from "../../../src/domain/lifecycle/finish-closings.ts";
import { DAY, shift } from "../../../src/shared/time/clock.ts";
import { formatTimestamp } from "../../../src/shared/time/timestamp.ts";
import { companies } from "../../../src/store/schema-companies.ts";
import { type Answer, type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { freshKey } from "../../support/keys.ts";

let app: TestApp;
let admin: Client;
let count = 0;

beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
});
afterAll(() => app.close());

const fresh = (what: string) => `${what}-${++count}`;
const inDays = (days: number) => formatTimestamp(shift(app.clock.now(), days * DAY));
const reasonOf = ({ status, headers }: Answer) => `${status} ${headers.get("uam-error")}`;
const isOpen = (username: string) => app.host.accounts.get(`ext_${username}`)?.open;

async function ok(answer: Promise<Answer>) {
  const { status, text, body } = await answer;
  if (status >= 300) throw new Error(text);
  return body.data;
}

const company = (limits: object = {}) => ok(admin.call("POST", "/companies", { name: fresh("Lindqvist"), ...limits }));
const narrow = (id: number, changes: object, query = "") => admin.call("PATCH", `/companies/${id}${query}`, changes);
const read = (id: number) => ok(admin.call("GET", `/users/${id}`));
const granted = async (id: number) => (await ok(admin.call("GET", `/users/${id}/hosts`))) as { groups: string[] };
const group = async () => (await createGroup(app.system, { name: fresh("web") })).row.name;

async function user(fields: object = {}) {
  const username = fresh("user");
  const { id } = await ok(admin.call("POST", "/users", { username, email: `${username}@example.org`, ...fields }));
  return await read(id);
}

/** Every record about users since. */
async function recordsSince(id: number) {
  const rows = [];
  for (const action of ["user.disable", "user.update", "user.grant", "user.shorten"] as const) {
    rows.push(...(await app.auditRows(action)).filter((row) => row.id > id));
  }
  return rows;
}

const newest = async () => (await app.lastAudit("company.update")).id;

describe("a company that becomes narrower", () => {
  test("first says whom it would concern and how, and changes nothing by that", async () => {
    const { id, name } = await company();
    const one = await user({ company_id: id, ttl_days: 30, source_networks: ["192.0.2.0/24"] });
    const two = await user({ company_id: id, ttl_days: 10, source_networks: ["198.51.100.0/24"] });
    const changes = { contract_end: inDays(20), source_networks: ["192.0.2.0/25"] };
    const { body } = await narrow(id, changes, "?preview=true");
    expect(body.data).toEqual({
      ...{ preview: true, host: [], users: 2 },
      effects: [
        `1 user of ${name}: no network is left, so they are disabled: ${two.username}.`,
        `1 user of ${name}: access ends earlier, at ${inDays(20)}: ${one.username}.`,
        `1 user of ${name}: access from fewer networks: ${one.username}.`,
      ],
    });
    expect([await read(one.id), await read(two.id)]).toEqual([one, two]);
    expect((await narrow(id, { max_users: 9 }, "?preview=true")).body.data).toMatchObject({
      ...{ users: 0, effects: [`Nobody of ${name} loses access by that.`] },
    });
    expect(reasonOf(await narrow(id, {}, "?preview=true"))).toStartWith("400 ");
    expect(reasonOf(await narrow(id, { name: (await company()).name }, "?preview=true"))).toBe("409 company.taken");
    expect(reasonOf(await narrow(999_999, changes, "?preview=true"))).toBe("404 company.missing");
  });

  test("takes ends, networks and hosts from its users and from nobody else, each on record", async () => {
    const [web, db] = [await group(), await group()];
    const { id } = await company();
    const beyond = { ttl_days: 30, source_networks: ["192.0.2.0/24"] };
    const one = await user({ ...beyond, company_id: id });
    const within = await user({ company_id: id, ttl_days: 5, source_networks: ["192.0.2.0/26"] });
    const other = await user(beyond);
    for (const it of [one, within]) await ok(admin.call("PUT", `/users/${it.id}/hosts`, { hosts: [], groups: [web] }));
    await ok(admin.call("PUT", `/users/${one.id}/hosts`, { hosts: [], groups: [web, db] }));
    const before = await newest().catch(() => 0);
    const changes = { max_ttl_days: 20, source_networks: ["192.0.2.0/25"], host_groups: [web] };
    expect((await narrow(id, changes)).body.data).toMatchObject({ ...changes, narrowing: false });
    expect(await read(one.id)).toMatchObject({
      ...{ expire_at: inDays(20), source_networks: ["192.0.2.0/25"], status: "active" },
    });
    expect((await granted(one.id)).groups).toEqual([web]);
    expect(await read(within.id)).toEqual(within);
    expect(await read(other.id)).toMatchObject({ expire_at: other.expire_at, source_networks: ["192.0.2.0/24"] });
    const records = (await recordsSince(before)).filter(({ detail }) => JSON.parse(detail).reason === "company");
    expect(records.map(({ action, subjectId, actor, result }) => [action, subjectId, actor, result])).toEqual([
      ["user.update", one.id, "admin", "success"],
      ["user.grant", one.id, "admin", "success"],
      ["user.shorten", one.id, "admin", "success"],
    ]);
    expect((await app.lastAudit("company.update")).detail).toMatchObject({ narrowed_users: 1, max_ttl_days: 20 });
  });

  test("disables who is left no network or no host, and opens them only with what it allows", async () => {
    const [web, db] = [await group(), await group()];
    const { id } = await company();
    const far = await user({ company_id: id, source_networks: ["198.51.100.0/24"] });
    const away = await user({ company_id: id, source_networks: ["192.0.2.0/24"] });
    await ok(admin.call("PUT", `/users/${away.id}/hosts`, { hosts: [], groups: [db] }));
    await ok(narrow(id, { source_networks: ["192.0.2.0/24"], host_groups: [web] }));
    expect([isOpen(far.username), (await read(far.id)).status, (await read(away.id)).status]).toEqual([
      ...[false, "disabled", "disabled"],
    ]);
    expect(JSON.parse((await app.auditRows("user.disable")).at(-1)?.detail ?? "")).toMatchObject({ reason: "company" });
    for (const query of ["", "?preview=true"]) {
      for (const it of [far, away]) {
        expect(reasonOf(await admin.call("POST", `/users/${it.id}/enable${query}`))).toBe("409 company.limit");
      }
    }
    await ok(admin.call("PUT", `/users/${away.id}/hosts`, { hosts: [], groups: [web] }));
    expect((await ok(admin.call("POST", `/users/${away.id}/enable`))).status).toBe("active");
    // Nothing is left to do for the other one, who has no access.
    await finishNarrowings(app.services);
    expect((await ok(admin.call("GET", `/companies/${id}`))).narrowing).toBe(false);
  });

  test("does not let an expired user back in with what it does not allow any more", async () => {
    const { id } = await company();
    const late = await user({ company_id: id, ttl_days: 1, source_networks: ["198.51.100.0/24"] });
    app.clock.advance(2 * DAY);
    admin = await app.admin();
    await ok(narrow(id, { source_networks: ["192.0.2.0/24"] }));
    for (const query of ["", "?preview=true"]) {
      expect(reasonOf(await admin.call("POST", `/users/${late.id}/extend${query}`, { days: 3 }))).toBe(
        "409 company.limit",
      );
    }
  });

  test("is refused an end that has passed as long as somebody has access", async () => {
    const { id } = await company();
    const { id: userId } = await user({ company_id: id, ttl_days: 3 });
    for (const query of ["", "?preview=true"]) {
      expect(reasonOf(await narrow(id, { contract_end: inDays(-1) }, query))).toBe("400 company.limit");
    }
    await ok(admin.call("DELETE", `/users/${userId}`));
    await ok(narrow(id, { contract_end: inDays(-1) }));
  });

  /** As a crash leaves it that came as soon as the change was stored. */
  async function cutShort() {
    const { id } = await company();
    const made = await user({ company_id: id, ttl_days: 30, source_networks: ["192.0.2.0/24"] });
    const change = {
      ...{ sourceNetworks: ["192.0.2.0/25"], narrowingSince: app.clock.now(), maxTtlDays: 20 },
      narrowingEnd: shift(app.clock.now(), 20 * DAY),
      ...({ narrowingByType: "token", narrowingBy: "nightly", narrowingByOwner: "owner" } as const),
    };
    await app.db.update(companies).set(change).where(eq(companies.id, id));
    return { id: id as number, made };
  }

  test("that was cut short is finished by the minute's job, in the name of who asked, by whichever clock", async () => {
    const { id, made } = await cutShort();
    expect((await ok(admin.call("GET", `/companies/${id}`))).narrowing).toBe(true);
    expect(reasonOf(await admin.call("PATCH", `/users/${made.id}`, { company_id: null }))).toBe("409 state.conflict");
    const end = inDays(20);
    app.clock.advance(-5 * DAY);
    await finishNarrowings(app.services);
    app.clock.advance(5 * DAY);
    expect(await read(made.id)).toMatchObject({ expire_at: end, source_networks: ["192.0.2.0/25"] });
    for (const action of ["user.update", "user.shorten"]) {
      expect(await app.lastAudit(action)).toMatchObject({ actorType: "token", actor: "nightly", subjectId: made.id });
    }
    expect((await ok(admin.call("GET", `/companies/${id}`))).narrowing).toBe(false);
    await ok(admin.call("PATCH", `/users/${made.id}`, { company_id: null }));
  });

  test("that is given something back before the rest is done takes that much less", async () => {
    const { id, made } = await cutShort();
    await ok(narrow(id, { max_ttl_days: null }));
    await finishNarrowings(app.services);
    expect(await read(made.id)).toMatchObject({ expire_at: made.expire_at, source_networks: ["192.0.2.0/25"] });
  });

  test("takes nothing by a limit that stays, even if the clock was set back", async () => {
    const { id } = await company({ max_ttl_days: 30 });
    const made = await user({ company_id: id, ttl_days: 30 });
    app.clock.advance(-DAY);
    await ok(narrow(id, { contract_end: inDays(90) }));
    app.clock.advance(DAY);
    expect((await read(made.id)).expire_at).toBe(made.expire_at);
  });

  test("says that something is left as long as the host has not done all of it, and stores the rest", async () => {
    const { id } = await company();
    const made = await user({ company_id: id, source_networks: ["192.0.2.0/24"] });
    await uploadKey(app.system, made.id, { name: "laptop", publicKey: freshKey() });
    const { narrowKeys } = app.host;
    app.host.narrowKeys = async () => ["The file could not be written"];
    try {
      expect((await ok(narrow(id, { source_networks: ["192.0.2.0/25"] }))).narrowing).toBe(true);
    } finally {
      app.host.narrowKeys = narrowKeys;
    }
    expect((await read(made.id)).source_networks).toEqual(["192.0.2.0/25"]);
    await finishClosings(app.services, "all");
    expect((await ok(admin.call("GET", `/companies/${id}`))).narrowing).toBe(false);
  });

  test("gives nobody more beside it: who is created or widened at the same instant is refused or narrowed", async () => {
    const { id } = await company({ source_networks: ["192.0.2.0/24"] });
    const made = await user({ company_id: id, source_networks: ["192.0.2.0/25"] });
    const creating = Array.from({ length: 3 }, () => {
      const username = fresh("late");
      return admin.call("POST", "/users", {
        ...{ username, email: `${username}@example.org`, company_id: id, source_networks: ["192.0.2.0/24"] },
      });
    });
    const widening = admin.call("PATCH", `/users/${made.id}`, { source_networks: ["192.0.2.0/24"] });
    const narrowing = [
      narrow(id, { source_networks: ["192.0.2.0/26"] }),
      narrow(id, { source_networks: ["192.0.2.0/26"] }),
    ];
    for (const answer of await Promise.all([...creating, widening, ...narrowing]))
      expect(answer.status).toBeLessThan(500);
    await finishNarrowings(app.services);
    const { items } = await ok(admin.call("GET", `/users?company=${id}`));
    for (const it of items) expect(it.source_networks).toEqual(["192.0.2.0/26"]);
  });
});
