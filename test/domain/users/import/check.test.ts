import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { checkImport } from "../../../../src/domain/users/import/check.ts";
import { DAY, shift } from "../../../../src/shared/time/clock.ts";
import { createTestApp, type TestApp } from "../../../support/app.ts";

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

const check = async (text: string) => await checkImport(app.system, new TextEncoder().encode(text));
const faultsOf = async (text: string) =>
  (await check(text)).faults.items.map(({ line, column, error }) => `${line} ${column}: ${error}`);

describe("checkImport", () => {
  test("reads each field of a user, by whatever separator", async () => {
    const text =
      "\uFEFFusername;email;full_name;supervisor;purpose;note;source_networks;ttl_days;id;team\r\n" +
      'alice;alice@example.org;Alice A;Bo;"Build; servers";\'=nights;192.0.2.1, 2001:db8::/32;30;7;red\r\n';
    const { good, ignored, users, faults } = await check(text);
    expect(users).toBe(1);
    expect(ignored).toEqual(["id", "team"]);
    expect(faults).toEqual({ existing: 0, faulty: 0, total: 0, items: [] });
    expect(good).toEqual([
      {
        line: 2,
        user: {
          ...{ username: "alice", email: "alice@example.org", fullName: "Alice A", supervisor: "Bo" },
          ...{
            purpose: "Build; servers",
            note: "=nights",
            sourceNetworks: ["192.0.2.1/32", "2001:db8::/32"],
            sponsorEmail: "",
          },
          expireAt: shift(app.clock.now(), 30 * DAY),
          ...{ startsAt: null, hours: null, companyHours: null, hoursEnd: "sessions", hoursDueAt: null },
          ...{ requestRule: null, requestHours: null, requestGroups: null, profile: null },
        },
      },
    ]);
  });

  test("reads start, hours and whom they ask as an export writes them, and names what cannot be read", async () => {
    const start = shift(app.clock.now(), 5 * DAY);
    const header = "username,email,starts_at,hours,hours_end,on_request,ttl_days";
    const text = [
      header,
      `a,a@example.org,${start.toISOString()},mon-fri 08:00-18:00 Europe/Berlin,logins,self:4h,3`,
      'b,b@example.org,2020-01-01T00:00:00Z,"mon,tue 08:00-18:00 UTC",sessions,none,',
      `c,c@example.org,${start.toISOString().slice(0, 10)},always,,,`,
    ].join("\n");
    const { good } = await check(text);
    expect(good.map(({ user }) => user)).toMatchObject([
      {
        ...{ startsAt: start, expireAt: shift(start, 3 * DAY), hours: "mon-fri 08:00-18:00 Europe/Berlin" },
        ...{ hoursEnd: "logins", requestRule: "self", requestHours: 4, requestGroups: null },
      },
      { startsAt: null, hours: "mon,tue 08:00-18:00 UTC", hoursEnd: "sessions", requestRule: null },
      { startsAt: new Date(`${start.toISOString().slice(0, 10)}T00:00:00Z`), hours: null, requestRule: null },
    ]);
    expect(good[1]?.user.hoursDueAt).toBeInstanceOf(Date);
    expect(await faultsOf(`${header}\nd,d@example.org,soon,nights,both,anybody:1h,`)).toEqual([
      expect.stringMatching(/^2 starts_at: starts_at is not a beginning/),
      expect.stringMatching(/^2 hours: Not hours such as/),
      expect.stringMatching(/^2 on_request: /),
      "2 hours_end: hours_end is one of sessions, logins",
    ]);
  });

  test("takes the end of the line, or the default", async () => {
    const until = shift(app.clock.now(), 5 * DAY);
    const { good } = await check(
      `username,email,expire_at\na,a@example.org,${until.toISOString()}\nb,b@example.org,\n`,
    );
    const byDefault = shift(app.clock.now(), app.system.policy.defaultTtl);
    expect(good.map(({ user }) => user.expireAt)).toEqual([until, byDefault]);
  });

  test("takes a day by itself as a whole, and names what is neither day nor moment", async () => {
    const day = shift(app.clock.now(), 5 * DAY)
      .toISOString()
      .slice(0, 10);
    const text = ["username,email,expire_at", `a,a@example.org,${day}`, "b,b@example.org,31.03.2027"].join("\n");
    const { good } = await check(text);
    expect(good.map(({ user }) => user.expireAt)).toEqual([shift(new Date(`${day}T00:00:00Z`), DAY)]);
    expect(await faultsOf(`${text}\nc,c@example.org,2027-02-30\n`)).toEqual(
      [3, 4].map((line) => `${line} expire_at: expire_at is not an end such as 2026-12-31 or 2026-12-31T17:00:00Z`),
    );
  });

  test("says all that is wrong, each with its line and column", async () => {
    const past = shift(app.clock.now(), -DAY).toISOString();
    const head = "username,email,full_name,ttl_days,expire_at,status\n";
    const lines = [
      "Alice,nobody,x\u202Ey,1.5,,",
      "ok,ok@example.org,,,,",
      `past,past@example.org,,,${past},`,
      "both,both@example.org,,5,2999-01-01T00:00:00Z,",
      "shut,shut@example.org,,,,disabled",
      "short,short@example.org",
      "",
      ",,,,,",
      'bad,"b"ad,,,,',
      "ok,twice@example.org,,,,",
      "long,long@example.org,,3651,,",
    ];
    expect(await faultsOf(head + lines.join("\n"))).toEqual([
      "2 ttl_days: The number of days must be a whole number",
      expect.stringMatching(/^2 username: The username must be 1 to 28/),
      expect.stringMatching(/^2 email: The e-mail must be one address/),
      expect.stringMatching(/^2 full_name: .* direction of writing/),
      `4 expire_at: expire_at is in the past: ${past}`,
      "5 expire_at: Give expire_at or ttl_days, not both",
      expect.stringMatching(/^6 status: Only active users/),
      "7 : The line has 2 values, and the header 6 columns",
      expect.stringMatching(/^10 : Something follows a closing/),
      "11 username: ok is in line 3, too",
      expect.stringMatching(/^12 ttl_days: The number of days must be a whole number from 0/),
    ]);
  });

  test("leaves out whom a profile limits", async () => {
    const { good, faults } = await check(
      "username,email,profile\nfree,f@example.org,\nfiles,fi@example.org,drop-box\n",
    );
    expect(good.map(({ user }) => user.username)).toEqual(["free"]);
    expect(faults.items.map(({ line, column, error }) => `${line} ${column}: ${error}`)).toEqual([
      "3 profile: Users with a profile are not imported: create them one by one, or empty profile",
    ]);
  });

  test("tells those who are there already from what is faulty, and leaves the good lines", async () => {
    await app.user("there");
    const { good, faults, users } = await check(
      `username,email\nnew-one,n@example.org\nthere,t@example.org\n_,x@example.org`,
    );
    expect(users).toBe(3);
    expect(good.map(({ user }) => user.username)).toEqual(["new-one"]);
    expect(faults).toMatchObject({ existing: 1, faulty: 1, total: 2 });
    expect(faults.items.map(({ line, reason }) => [line, reason])).toEqual([
      [3, "user.taken"],
      [4, "request.invalid"],
    ]);
  });

  test.each([
    ["", "The file is empty"],
    ["\n\n", "The file is empty"],
    ["username,mail\n", 'Line 1: there is no column "mail". Did you mean email?'],
    ["username,email,ttl\n", 'Line 1: there is no column "ttl". Did you mean ttl_days?'],
    ["email\n", "Line 1: the header has no column username"],
    ["username,email,email\n", 'Line 1: the column "email" is there twice'],
    ['user"name\n', "Line 1: A quotation mark"],
    [`username,email\n${"a,b\n".repeat(10_001)}`, "more than 10000 users"],
  ])("refuses the file %#", async (text, sentence) => {
    // Not by `rejects`, which lets the loop idle at each turn that is given to others.
    expect(await check(text).catch((error: Error) => error.message)).toContain(sentence);
  });

  test("refuses a file in another encoding", async () => {
    const latin = new Uint8Array([...new TextEncoder().encode("username,email\n"), 0xe5]);
    await expect(checkImport(app.system, latin)).rejects.toThrow("not in UTF-8");
  });

  test("says the first hundred faults, and how many there are", async () => {
    const { faults } = await check(`username,email\n${"_,x@example.org\n".repeat(500)}`);
    expect(faults).toMatchObject({ faulty: 500, total: 500 });
    expect(faults.items).toHaveLength(100);
    expect(faults.items.at(-1)?.line).toBe(101);
  });
});
