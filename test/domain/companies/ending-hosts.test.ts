/** On how many hosts with agents it is true that nobody of a company has access any more. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { HOUR, shift } from "../../../src/shared/time/clock.ts";
import { companies } from "../../../src/store/schema-companies.ts";
import { hosts } from "../../../src/store/schema-fleet.ts";
import { type Client, createTestApp, type TestApp } from "../../support/app.ts";
import { headOf, insertHost } from "../../support/host-rows.ts";
import { makeManager } from "../../support/manager.ts";

let app: TestApp;
let admin: Client;
beforeAll(async () => {
  app = await createTestApp();
  admin = await app.admin();
});
afterAll(() => app.close());

async function ok(answer: ReturnType<Client["call"]>) {
  const { status, body, text } = await answer;
  if (status >= 300) throw new Error(text);
  return body.data;
}

test("hostsOfEnding() counts each host that has them, from the first moment until it has confirmed or its lease is over", async () => {
  const { id } = await ok(admin.call("POST", "/companies", { name: "Lindqvist AB" }));
  const read = () => ok(admin.call("GET", `/companies/${id}/end`));
  const none = { total: 0, closed: 0, owed: 0 };
  expect(await read()).toEqual({ status: "active", users: none, effective_by: app.clock.now().toISOString() });
  const until = shift(app.clock.now(), HOUR);
  const head = await headOf(app);
  for (const name of ["web1", "web2", "elsewhere"]) {
    await insertHost(app, name, { appliedId: head, leaseUntil: name === "web2" ? shift(until, HOUR) : until });
  }
  for (const username of ["alice", "bob"]) {
    const email = `${username}@example.org`;
    const user = await ok(admin.call("POST", "/users", { username, email, company_id: id }));
    const wanted = username === "alice" ? ["web1", "web2"] : ["web1"];
    await ok(admin.call("PUT", `/users/${user.id}/hosts`, { hosts: wanted, groups: [] }));
  }
  // As a crash leaves it: stored, and nobody disabled yet.
  await app.db.update(companies).set({ status: "ending" }).where(eq(companies.id, id));
  const open = { total: 2, confirmed: 0, pending: ["web1", "web2"], effective_by: null };
  expect(await read()).toEqual({
    status: "ending",
    users: { total: 2, closed: 0, owed: 0 },
    effective_by: null,
    hosts: open,
  });

  const records = (await app.auditRows("company.end")).length;
  const later = shift(until, HOUR).toISOString();
  const ended = await ok(admin.call("POST", `/companies/${id}/end`));
  expect(ended).toMatchObject({ status: "ended", users: { total: 2, closed: 2, owed: 0 }, effective_by: later });
  expect(ended.hosts).toEqual({ ...open, effective_by: later });
  await app.db.update(hosts).set({ appliedId: 1e12 }).where(eq(hosts.name, "web2"));
  const rest = { total: 2, confirmed: 1, pending: ["web1"], effective_by: until.toISOString() };
  expect(await read()).toMatchObject({ effective_by: until.toISOString(), hosts: rest });
  await app.db.update(hosts).set({ appliedId: 1e12 });
  const now = app.clock.now().toISOString();
  expect(await read()).toMatchObject({
    effective_by: now,
    hosts: { total: 2, confirmed: 2, pending: [], effective_by: now },
  });
  // Reading is no record.
  expect((await app.auditRows("company.end")).length).toBe(records);
});

test("there is no end of a company that is none", async () => {
  expect((await admin.call("GET", "/companies/999/end")).status).toBe(404);
});

test("an end by a manager says on which hosts it is true, as any other closing", async () => {
  const hurried = await createTestApp({ UAM_FLEET_WAIT: "1s" });
  const owner = await hurried.admin();
  const until = shift(hurried.clock.now(), HOUR);
  await insertHost(hurried, "web1", { leaseUntil: until, appliedId: 0 });
  const { id, client } = await hurried.user("manager");
  const email = "colleague@example.org";
  const company_id = await makeManager(hurried, id);
  const colleague = await ok(owner.call("POST", "/users", { username: "colleague", email, company_id }));
  await ok(owner.call("PUT", `/users/${colleague.id}/hosts`, { hosts: ["web1"], groups: [] }));
  const effective_by = until.toISOString();
  expect(await ok(client.call("POST", `/me/company/users/${colleague.id}/end`))).toEqual({
    ...{ status: "disabled", effective_by },
    hosts: { total: 1, confirmed: 0, pending: ["web1"], effective_by },
  });
  await hurried.close();
});
