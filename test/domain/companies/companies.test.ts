/** Companies: what is stored of them, and that their users lie within their limits whatever gives them something. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createGroup, deleteGroup } from "../../../src/domain/hosts/groups.ts";
import { DAY, shift } from "../../../src/shared/time/clock.ts";
import { formatTimestamp } from "../../../src/shared/time/timestamp.ts";
import { type Answer, type Client, createTestApp, type TestApp } from "../../support/app.ts";

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

async function company(limits: object = {}) {
  const answer = await admin.call("POST", "/companies", { name: fresh("Lindqvist"), ...limits });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.data;
}

function post(fields: object): Promise<Answer> {
  const username = fresh("user");
  return admin.call("POST", "/users", { username, email: `${username}@example.org`, ...fields });
}

async function user(fields: object = {}) {
  const answer = await post(fields);
  if (answer.status !== 201) throw new Error(answer.text);
  return (await admin.call("GET", `/users/${answer.body.data.id}`)).body.data;
}

async function granted(id: number): Promise<readonly string[]> {
  return (await admin.call("GET", `/users/${id}/hosts`)).body.data.groups;
}

describe("listCompanies()", () => {
  test("finds those whose name has a text, literally and in any case", async () => {
    for (const name of ["Søren 100% ApS", "SØRENSEN", "100 of them"]) await company({ name });
    const named = async (q: string) => {
      const { body } = await admin.call("GET", `/companies?${new URLSearchParams({ q })}`);
      expect(body.data.total).toBe(body.data.items.length);
      return body.data.items.map(({ name }: { name: string }) => name);
    };
    expect(await named("søren")).toEqual(["SØRENSEN", "Søren 100% ApS"].sort((a, b) => (a < b ? -1 : 1)));
    expect(await named("100%")).toEqual(["Søren 100% ApS"]);
    expect(await named("_")).toEqual([]);
    expect((await admin.call("GET", "/companies?q=%00")).status).toBe(400);
  });
});

describe("a company", () => {
  test("is made, read, changed, listed and deleted, each on record", async () => {
    const made = await company({ name: "  Åkerman AB ", max_users: 3, source_networks: ["192.0.2.0/24"] });
    expect(made).toMatchObject({ name: "Åkerman AB", max_users: 3, contract_end: null, status: "active", users: 0 });
    expect((await app.lastAudit("company.create")).detail).toEqual({
      ...{ name: "Åkerman AB", max_users: 3, source_networks: "192.0.2.0/24" },
    });
    const changes = { max_users: null, sponsor_email: "bo@example.org", contract_end: "2030-01-01T00:00:00+02:00" };
    const changed = await admin.call("PATCH", `/companies/${made.id}`, changes);
    expect(changed.body.data).toMatchObject({
      ...{ name: "Åkerman AB", max_users: null, sponsor_email: "bo@example.org" },
      contract_end: "2029-12-31T22:00:00.000Z",
    });
    expect((await app.lastAudit("company.update")).detail).toEqual({
      ...{ name: "Åkerman AB", max_users: null, old_max_users: 3 },
      ...{ contract_end: "2029-12-31T22:00:00.000Z", old_contract_end: null },
      ...{ sponsor_email: "bo@example.org", old_sponsor_email: "" },
    });
    expect((await admin.call("GET", `/companies/${made.id}`)).body.data).toEqual(changed.body.data);
    expect((await admin.call("GET", "/companies")).body.data.items).toContainEqual(changed.body.data);
    expect((await admin.call("DELETE", `/companies/${made.id}`)).body.data).toEqual({ status: "deleted" });
    expect(reasonOf(await admin.call("GET", `/companies/${made.id}`))).toBe("404 company.missing");
    expect(await app.lastAudit("company.delete")).toMatchObject({ resourceType: "company", result: "success" });
  });

  test("is refused with a name that is taken or none, and with limits that are none", async () => {
    const { name } = await company();
    const refused = async (fields: object) => reasonOf(await admin.call("POST", "/companies", fields));
    expect(await refused({ name })).toBe("409 company.taken");
    for (const fields of [
      ...[{ name: " " }, { name: "x".repeat(129) }, { name: "a\u0000b" }],
      ...[{ max_users: 0 }, { max_users: 1.5 }, { max_ttl_days: 3651 }, { contract_end: "tomorrow" }],
      ...[{ source_networks: ["192.0.2.1/24"] }, { host_groups: ["no-such-group"] }, { sponsor_email: "two@a, b@c" }],
      { max_user: 3 },
    ]) {
      expect(await refused({ name: fresh("refused"), ...fields })).toStartWith("400 ");
    }
    expect(reasonOf(await admin.call("PATCH", `/companies/${(await company()).id}`, {}))).toStartWith("400 ");
    expect(reasonOf(await admin.call("PATCH", "/companies/999999", { max_users: 1 }))).toBe("404 company.missing");
    expect(await app.lastAudit("company.update")).toMatchObject({ result: "failed", resourceId: "999999" });
  });

  test("that users come from is not deleted", async () => {
    const { id } = await company();
    const { id: userId } = await user({ company_id: id });
    expect(reasonOf(await admin.call("DELETE", `/companies/${id}`))).toBe("409 company.used");
    await admin.call("PATCH", `/users/${userId}`, { company_id: null });
    expect((await admin.call("DELETE", `/companies/${id}`)).status).toBe(200);
  });
});

describe("a user of a company", () => {
  test("is found by it, and has what it allows where nothing is named", async () => {
    const end = inDays(10);
    const { id } = await company({ contract_end: end, source_networks: ["192.0.2.0/24"] });
    const made = await user({ company_id: id, manager: true });
    expect(made).toMatchObject({ company_id: id, manager: true, expire_at: end, source_networks: ["192.0.2.0/24"] });
    await user();
    const { body } = await admin.call("GET", `/users?company=${id}`);
    expect(body.data).toMatchObject({ total: 1, items: [{ id: made.id, company_id: id }] });
    expect((await admin.call("GET", `/users?company=${id}&q=${made.username}`)).body.data.total).toBe(1);
  });

  test("is not created outside it", async () => {
    const { id } = await company({ contract_end: inDays(20), max_ttl_days: 10, source_networks: ["192.0.2.0/24"] });
    expect(reasonOf(await post({ company_id: id, ttl_days: 11 }))).toBe("400 company.limit");
    expect(reasonOf(await post({ company_id: id, source_networks: ["192.0.2.0/23"] }))).toBe("400 company.limit");
    expect(reasonOf(await post({ company_id: id, source_networks: [] }))).toBe("400 company.limit");
    expect(reasonOf(await post({ company_id: 999_999 }))).toBe("400 company.missing");
    expect(reasonOf(await post({ manager: true }))).toStartWith("400 ");
    expect((await user({ company_id: id, ttl_days: 10, source_networks: ["192.0.2.7"] })).expire_at).toBe(inDays(10));
  });

  test("is extended within it, and never beyond", async () => {
    const { id } = await company({ max_ttl_days: 10 });
    const made = await user({ company_id: id, ttl_days: 2 });
    const extend = (body: object, query = "") => admin.call("POST", `/users/${made.id}/extend${query}`, body);
    for (const query of ["?preview=true", ""]) {
      expect(reasonOf(await extend({ days: 9 }, query))).toBe("400 company.limit");
      expect((await extend({}, "?preview=true")).body.data.expire_at).toBe(inDays(10));
    }
    expect((await extend({ days: 3 })).body.data.expire_at).toBe(inDays(5));
    expect((await extend({})).body.data.expire_at).toBe(inDays(10));
    expect((await extend({})).body.data.expire_at).toBe(inDays(10));
  });

  test("gets no more time by a request of their own that is approved", async () => {
    const { id } = await company({ max_ttl_days: 10 });
    const { id: userId, client } = await app.user(fresh("asking"));
    await admin.call("PATCH", `/users/${userId}`, { company_id: null });
    const moved = await admin.call("PATCH", `/users/${userId}`, { company_id: id });
    expect(reasonOf(moved)).toBe("400 company.limit");
    await app.db.execute(`update users set expire_at = '${inDays(5)}' where id = ${userId}`);
    expect((await admin.call("PATCH", `/users/${userId}`, { company_id: id })).body.data.company_id).toBe(id);
    const asked = await client.call("POST", "/me/extension", { days: 30, reason: "Still testing" });
    const review = `/approvals/${asked.body.data.id}/review`;
    expect(reasonOf(await admin.call("POST", review, { approve: true }))).toBe("400 company.limit");
    expect((await admin.call("POST", review, { approve: true, ttl_days: 5 })).status).toBe(200);
    expect((await admin.call("GET", `/users/${userId}`)).body.data.expire_at).toBe(inDays(10));
  });

  test("has networks within it, whatever changes them", async () => {
    const { id } = await company({ source_networks: ["192.0.2.0/24"] });
    const made = await user({ source_networks: ["192.0.0.0/16"] });
    const change = (changes: object) => admin.call("PATCH", `/users/${made.id}`, changes);
    expect(reasonOf(await change({ company_id: id }))).toBe("400 company.limit");
    expect((await change({ company_id: id, source_networks: ["192.0.2.0/25"] })).body.data).toMatchObject({
      ...{ company_id: id, source_networks: ["192.0.2.0/25"] },
    });
    for (const networks of [[], ["192.0.2.0/23"], ["2001:db8::/32"], ["192.0.2.0/24", "198.51.100.7"]]) {
      expect(reasonOf(await change({ source_networks: networks }))).toBe("400 company.limit");
    }
    expect((await change({ source_networks: ["192.0.2.0/24"] })).status).toBe(200);
    expect((await app.lastAudit("user.update")).detail).not.toHaveProperty("company");
  });

  test("has hosts by its groups only", async () => {
    const [web, tools, other] = [fresh("web"), fresh("tools"), fresh("other")];
    for (const name of [web, tools, other]) await createGroup(app.system, { name });
    const { id } = await company({ host_groups: [tools, web] });
    const made = await user({ company_id: id });
    expect(await granted(made.id)).toEqual([web, tools]);
    const give = (groups: readonly string[], hosts: readonly string[] = [], query = "") =>
      admin.call("PUT", `/users/${made.id}/hosts${query}`, { hosts, groups });
    for (const query of ["", "?preview=true"]) {
      expect(reasonOf(await give([other], [], query))).toBe("400 company.limit");
      expect(reasonOf(await give([web], ["local"], query))).toBe("400 company.limit");
    }
    expect((await give([web])).status).toBe(200);
    expect(reasonOf(await admin.call("PATCH", `/users/${(await user()).id}`, { company_id: id }))).toBe(
      "400 company.limit",
    );
    const first = (await admin.call("GET", "/host-groups")).body.data.items.find(
      (group: { for_new_users: boolean }) => group.for_new_users,
    );
    const { id: both } = await company({ host_groups: [web, first.name] });
    expect(await granted((await user({ company_id: both })).id)).toEqual([first.name]);
    await expect(deleteGroup(app.system, tools)).rejects.toMatchObject({ reason: "host_group.used" });
  });

  test("is one of as many as it may have, also of two who come at once", async () => {
    const { id } = await company({ max_users: 2 });
    await user({ company_id: id });
    const both = await Promise.all([post({ company_id: id }), post({ company_id: id })]);
    expect(both.map(reasonOf).sort()).toEqual(["201 null", "409 company.full"]);
    const other = await user();
    expect(reasonOf(await admin.call("PATCH", `/users/${other.id}`, { company_id: id }))).toBe("409 company.full");
    expect((await admin.call("GET", `/companies/${id}`)).body.data.users).toBe(2);
  });

  test("who moves to another company is no manager there unless that is said", async () => {
    const [one, two] = [await company(), await company()];
    const made = await user({ company_id: one.id, manager: true });
    const move = (changes: object) => admin.call("PATCH", `/users/${made.id}`, changes);
    expect((await move({ company_id: two.id })).body.data).toMatchObject({ company_id: two.id, manager: false });
    expect((await app.lastAudit("user.update")).detail).toEqual({
      ...{ username: made.username, company: two.name, old_company: one.name, manager: false, old_manager: true },
    });
    expect((await move({ manager: true })).body.data.manager).toBe(true);
    expect(reasonOf(await move({ company_id: null, manager: true }))).toStartWith("400 ");
    expect((await move({ company_id: null })).body.data).toMatchObject({ company_id: null, manager: false });
  });

  test("moves while another moves the other way", async () => {
    const [one, two] = [await company(), await company()];
    const [a, b] = [await user({ company_id: one.id }), await user({ company_id: two.id })];
    for (let round = 0; round < 10; round++) {
      const [here, there] = round % 2 === 0 ? [two.id, one.id] : [one.id, two.id];
      const moves = [
        admin.call("PATCH", `/users/${a.id}`, { company_id: here }),
        admin.call("PATCH", `/users/${b.id}`, { company_id: there }),
      ];
      expect((await Promise.all(moves)).map(({ status }) => status)).toEqual([200, 200]);
    }
  });

  test("is given nothing once the contract is over", async () => {
    const { id } = await company({ contract_end: inDays(1) });
    const made = await user({ company_id: id });
    app.clock.advance(DAY);
    admin = await app.admin();
    expect(reasonOf(await post({ company_id: id }))).toBe("409 company.ended");
    expect(reasonOf(await admin.call("POST", `/users/${made.id}/extend`, { days: 1 }))).toBe("409 company.ended");
    await admin.call("PATCH", `/companies/${id}`, { contract_end: inDays(3) });
    expect((await admin.call("POST", `/users/${made.id}/extend`)).body.data.expire_at).toBe(inDays(3));
  });
});
