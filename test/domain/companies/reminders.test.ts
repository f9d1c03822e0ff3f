import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createCompany } from "../../../src/domain/companies/companies.ts";
import { remindOfContracts } from "../../../src/domain/companies/reminders.ts";
import { updateCompany } from "../../../src/domain/companies/update.ts";
import { createUser, disableUser } from "../../../src/domain/users/users.ts";
import { DAY, shift } from "../../../src/shared/time/clock.ts";
import { createTestApp, type TestApp } from "../../support/app.ts";
import { makeManager } from "../../support/manager.ts";

let app: TestApp;

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const reminders = async () => (await app.mails()).filter(({ dedupeKey }) => dedupeKey?.startsWith("contract:"));

describe("remindOfContracts()", () => {
  test("mails each active manager once 14, 7 and 1 days before the end, and anew for another end", async () => {
    const contractEnd = shift(app.clock.now(), 20 * DAY);
    const { row } = await createCompany(app.system, { name: "Lindqvist AB", contractEnd });
    const make = async (username: string, isManager: boolean) => {
      const { id } = await createUser(app.system, { username, email: `${username}@example.org`, companyId: row.id });
      if (isManager) await makeManager(app, id, row.id);
      return id;
    };
    await make("anna", true);
    await make("person", false);
    await disableUser(app.system, await make("gone", true));
    await createCompany(app.system, { name: "Nobody AB", contractEnd });
    const run = async (days: number) => {
      app.clock.set(shift(contractEnd, -days * DAY));
      for (let n = 0; n < 2; n++) await remindOfContracts(app.services, app.clock.now());
      return (await reminders()).map(({ recipient, subject }) => `${recipient}: ${subject.replace(/ to \S+/, "")}`);
    };
    const mailed = (...whens: string[]) =>
      whens.map((when) => `anna@example.org: The access of Lindqvist AB ends ${when}`);
    expect(await run(15)).toEqual([]);
    expect(await run(14)).toEqual(mailed("in 14 days"));
    // The service was stopped over the 7th day before: one mail, not two.
    expect(await run(1)).toEqual(mailed("in 14 days", "within a day"));
    const [first] = await reminders();
    expect(first).toMatchObject({ expiresAt: contractEnd });
    expect(first?.text).toContain("now 2 people can log in");
    await updateCompany(app.system, row.id, { contractEnd: shift(contractEnd, 6 * DAY) });
    expect(await run(1)).toEqual(mailed("in 14 days", "within a day", "in 7 days"));
    app.clock.set(shift(contractEnd, 7 * DAY));
    await remindOfContracts(app.services, app.clock.now());
    expect(await reminders()).toHaveLength(3);
  });

  test("mails the sponsor too, as long as anybody of the company has access, and whoever is the sponsor then", async () => {
    const contractEnd = shift(app.clock.now(), 20 * DAY);
    const { row } = await createCompany(app.system, { name: "Berg AB", contractEnd, sponsorEmail: "Bo@Example.org" });
    const person = { username: "berit", email: "berit@example.org", companyId: row.id };
    const run = async (days: number, services = app.services) => {
      app.clock.set(shift(contractEnd, -days * DAY));
      for (let n = 0; n < 2; n++) await remindOfContracts(services, app.clock.now());
      return (await reminders()).filter(({ subject }) => subject.includes("Berg AB"));
    };
    expect(await run(14)).toEqual([]);
    const { id } = await createUser(app.system, person);
    const { policy } = app.services;
    const without = { ...app.services, policy: { ...policy, sponsor: { ...policy.sponsor, mode: "off" as const } } };
    expect(await run(14, without)).toEqual([]);
    const [mail, ...more] = await run(14);
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ recipient: "bo@example.org", expiresAt: contractEnd });
    expect(mail?.text.replaceAll("\n", " ")).toContain("now 1 person can log in. You answer for its people.");
    expect(mail?.text).toStartWith("Hello,");
    await updateCompany(app.system, row.id, { sponsorEmail: "mo@example.org" });
    expect((await run(13)).map(({ recipient }) => recipient)).toEqual(["bo@example.org", "mo@example.org"]);
    await disableUser(app.system, id);
    expect(await run(7)).toHaveLength(2);
  });
});
