import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../../support/app.ts";

let app: TestApp;
let admin: Awaited<ReturnType<TestApp["admin"]>>;

beforeAll(async () => {
  app = await createTestApp();
  // A Friday: Berlin is at 11:00.
  app.clock.set(new Date("2026-11-27T10:00:00Z"));
  admin = await app.admin();
});
afterAll(() => app.close());

const OFFICE = { zone: "Europe/Berlin", windows: [{ days: ["fri", "mon"], from: "08:00", to: "18:00" }] };
const create = (fields: Record<string, unknown>) => admin.call("POST", "/users", { email: "p@example.org", ...fields });

describe("the hours of a user over HTTP", () => {
  test("are given, read and listed as moments within start and end", async () => {
    const given = { starts_at: "2026-11-27T12:00:00Z", expire_at: "2026-12-04T08:00:00Z", hours: OFFICE };
    const { status, body } = await create({ username: "given", ...given });
    expect([status, Object.keys(body.data).sort()]).toEqual([201, ["expire_at", "id", "status", "username"]]);
    const read = await admin.call("GET", `/users/${body.data.id}`);
    expect(read.body.data).toMatchObject({
      starts_at: "2026-11-27T12:00:00.000Z",
      expire_at: "2026-12-04T08:00:00.000Z",
      hours: { zone: "Europe/Berlin", windows: [{ days: ["mon", "fri"], from: "08:00", to: "18:00" }] },
      access: "not_yet",
      access_changes_at: "2026-11-27T12:00:00.000Z",
    });
    const listed = await admin.call("GET", `/users/${body.data.id}/hours?to=2026-12-27T00:00:00Z`);
    expect(listed.body.data).toEqual({
      zone: "Europe/Berlin",
      windows: [
        { from: "2026-11-27T12:00:00.000Z", to: "2026-11-27T17:00:00.000Z" },
        { from: "2026-11-30T07:00:00.000Z", to: "2026-11-30T17:00:00.000Z" },
        { from: "2026-12-04T07:00:00.000Z", to: "2026-12-04T08:00:00.000Z" },
      ],
    });
  });

  test("are refused with a sentence, and change nothing", async () => {
    const { body } = await create({ username: "refused", hours: OFFICE });
    const path = `/users/${body.data.id}`;
    for (const [changes, status, reason] of [
      [{ hours: { zone: "Mars/Olympus", windows: OFFICE.windows } }, 400, "request.invalid"],
      [{ hours: { zone: "UTC", windows: Array(21).fill(OFFICE.windows[0]) } }, 400, "request.invalid"],
      [{ hours: { zone: "UTC", windows: [{ days: [], from: "08:00", to: "18:00" }] } }, 400, "request.invalid"],
      [{ hours: { zone: "UTC", windows: [{ days: ["mon"], from: "8:00", to: "18:00" }] } }, 400, "request.invalid"],
      [{ hours: OFFICE, source_networks: ["192.0.2.0/24"] }, 400, "request.invalid"],
      [{ starts_at: "2026-12-27T12:00:00Z" }, 409, "user.started"],
      [{ start_at: "2026-12-27T12:00:00Z" }, 400, "request.invalid"],
    ] as const) {
      const answer = await admin.call("PATCH", path, changes);
      expect([changes, answer.status, answer.headers.get("uam-error")]).toEqual([changes, status, reason]);
    }
    for (const query of ["from=x", "to=2026-11-01T00:00:00Z", "to=2030-11-01T00:00:00Z"])
      expect((await admin.call("GET", `${path}/hours?${query}`)).status).toBe(400);
    expect((await admin.call("GET", path)).body.data.hours.zone).toBe("Europe/Berlin");
    const cleared = await admin.call("PATCH", path, { hours: null });
    expect(cleared.body.data).toMatchObject({ hours: null, access: "open", access_changes_at: null });
  });
});

describe("GET /me/hours.ics", () => {
  test("has the windows of the next 60 days, for nobody else, and none of who is disabled", async () => {
    const { client, id } = await app.user("cal");
    await admin.call("PATCH", `/users/${id}`, { hours: OFFICE });
    await admin.call("POST", `/users/${id}/extend`, { days: 90 });
    const answer = await client.call("GET", "/me/hours.ics");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/calendar; charset=utf-8"]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const starts = [...answer.text.matchAll(/^DTSTART:(.*)\r$/gm)].map(([, start]) => start);
    // Today's goes on; the last is within 60 days.
    expect(starts[0]).toBe("20261127T100000Z");
    expect(starts.slice(1, 3)).toEqual(["20261130T070000Z", "20261204T070000Z"]);
    expect(starts.at(-1)).toBe("20270125T070000Z");
    expect((await admin.call("GET", "/me/hours.ics")).status).toBe(403);
    await admin.call("POST", `/users/${id}/disable`);
    expect((await client.call("GET", "/me/hours.ics")).text).not.toContain("VEVENT");
  });
});
