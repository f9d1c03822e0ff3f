import { describe, expect, test } from "bun:test";
import { ApiFailure } from "../../src/console/api.ts";
import { daysOf, wholeDays } from "../../src/console/pages/admin/days.ts";
import { endsOf } from "../../src/console/pages/admin/user/ends.ts";
import { doneOf, failedOf, oneByOne } from "../../src/console/pages/admin/users/one-by-one.ts";
import { addressOfUsers, askOf, isEverybody, readUsersView } from "../../src/console/pages/admin/users/view.ts";
import { mayChange, maySee, rolesThatSee } from "../../src/console/roles.ts";
import { cut, isolated } from "../../src/console/ui/isolated.ts";
import { testSlow } from "../support/thorough.ts";

describe("oneByOne()", () => {
  test("goes on after a failure, and says who failed and why", async () => {
    const failure = new Error("bob is expired");
    const seen: number[] = [];
    const outcomes = await oneByOne(
      ["alice", "bob", "carol"],
      async (name) => {
        if (name === "bob") throw failure;
        return name.toUpperCase();
      },
      { onProgress: ({ length }) => seen.push(length), isStopped: () => false },
    );
    expect(seen).toEqual([1, 2, 3]);
    expect(doneOf(outcomes)).toEqual([
      { item: "alice", value: "ALICE" },
      { item: "carol", value: "CAROL" },
    ]);
    expect(failedOf(outcomes)).toEqual([{ item: "bob", failure }]);
  });

  test("begins the next only when the one before has ended", async () => {
    let running = 0;
    let most = 0;
    await oneByOne(
      [1, 2, 3],
      async () => {
        running += 1;
        most = Math.max(most, running);
        await Bun.sleep(1);
        running -= 1;
      },
      { onProgress: () => {}, isStopped: () => false },
    );
    expect(most).toBe(1);
  });

  testSlow(
    "waits where so many were refused that the service looks at no more changes, unless it is stopped",
    async () => {
      const about = { status: 429, reason: "rate.refused", requestId: "" };
      let tries = 0;
      const busy = async () => {
        if (++tries === 1) throw new ApiFailure("Too many", { ...about, retryAfter: 1 });
        return tries;
      };
      const watch = { onProgress: () => {}, isStopped: () => false };
      expect(doneOf(await oneByOne(["alice"], busy, watch))).toEqual([{ item: "alice", value: 2 }]);
      let isStopped = false;
      const refused = async () => {
        isStopped = true;
        throw new ApiFailure("Too many", { ...about, retryAfter: 3600 });
      };
      const outcomes = await oneByOne(["alice", "bob"], refused, { onProgress: () => {}, isStopped: () => isStopped });
      expect(failedOf(outcomes).map(({ item }) => item)).toEqual(["alice"]);
    },
  );

  test("finishes what it began when it is stopped, and begins nothing more", async () => {
    let stopped = false;
    const outcomes = await oneByOne([1, 2, 3], async (item) => item, {
      onProgress: () => {
        stopped = true;
      },
      isStopped: () => stopped,
    });
    expect(outcomes.map(({ item }) => item)).toEqual([1]);
  });
});

describe("which users are shown", () => {
  test("readUsersView() takes from the address what makes sense", () => {
    const plain = readUsersView({});
    const uses = { last_used: "", silent_for: "", welcome: "", terms: "", access: "" } as const;
    const people = { q: "", supervisor: "", company: "", sponsor: "" } as const;
    expect(plain).toEqual({ ...people, status: "", ...uses, sort: "-created_at", page: 1 });
    expect(readUsersView({ status: "gone", sort: "email", page: "1e3" })).toEqual(plain);
    expect(readUsersView({ q: "x".repeat(500) }).q).toHaveLength(128);
    expect(isEverybody(plain)).toBe(true);
    expect(isEverybody({ ...plain, q: " " })).toBe(true);
    expect(isEverybody({ ...plain, status: "expired" })).toBe(false);
    expect(readUsersView({ last_used: "always", silent_for: "soon" })).toEqual(plain);
    expect(isEverybody({ ...plain, silent_for: "30d" })).toBe(false);
    expect(isEverybody(plain)).toBe(true);
    expect(isEverybody({ ...plain, sort: "username", page: 3 })).toBe(true);
    expect(readUsersView({ access: "shut" })).toEqual(plain);
    expect(isEverybody(readUsersView({ access: "on_request" }))).toBe(false);
    expect(readUsersView({ welcome: "sent" })).toEqual(plain);
    expect(isEverybody(readUsersView({ welcome: "pending" }))).toBe(false);
    expect(readUsersView({ company: "0x1" })).toEqual(plain);
    expect(isEverybody(readUsersView({ company: "7" }))).toBe(false);
    // One choice on the page: what it does not show is not asked.
    expect(readUsersView({ last_used: "never", silent_for: "30d" })).toEqual({ ...plain, last_used: "never" });
  });

  test("addressOfUsers() is read back as the same view", () => {
    const view = readUsersView({
      q: "a&b=c %",
      status: "active",
      supervisor: "Bo",
      silent_for: "90d",
      company: "7",
      sponsor: "bo@example.org",
      page: "4",
    });
    const { pathname, searchParams } = new URL(addressOfUsers(view), "http://localhost");
    expect(pathname).toBe("/admin/users");
    expect(readUsersView(Object.fromEntries(searchParams))).toEqual(view);
    expect(addressOfUsers(readUsersView({}))).toBe("/admin/users");
  });

  test("askOf() asks for nothing that is empty", () => {
    expect(askOf(readUsersView({ q: " " }), 25)).toEqual({ sort: "-created_at", page: "1", page_size: "25" });
    expect(askOf(readUsersView({ silent_for: "60d", supervisor: " Bo ", sponsor: " none " }), 25)).toMatchObject({
      ...{ silent_for: "60d", supervisor: "Bo", sponsor: "none" },
    });
  });
});

describe("days", () => {
  test("daysOf() is 0 for none, and undefined for what is no number of days", () => {
    expect(["", " ", "1", " 30 ", "3650"].map(daysOf)).toEqual([0, 0, 1, 30, 3650]);
    for (const text of ["0", "-1", "1.5", "3651", "1e2", "thirty", "99999999"]) expect(daysOf(text)).toBeUndefined();
  });

  test("wholeDays() reads a duration that is a number of days", () => {
    expect(wholeDays("90d")).toBe(90);
    expect(wholeDays("48h")).toBe(2);
    for (const duration of ["1d12h", "soon", "", undefined]) expect(wholeDays(duration)).toBeUndefined();
  });

  test("endsOf() says what ended or ends the access, and when the account goes", () => {
    const user = { status: "active", expire_at: "2026-12-01T00:00:00.000Z", disabled_at: null } as const;
    const at = user.expire_at;
    expect(endsOf(user, "30d")).toEqual({ reason: "expiry", at, removedAt: "2026-12-31T00:00:00.000Z" });
    expect(endsOf({ ...user, status: "expired" }, undefined)).toEqual({ reason: "expired", at, removedAt: undefined });
    const disabled_at = "2026-11-20T00:00:00.000Z";
    expect(endsOf({ ...user, status: "disabled", disabled_at }, "30d")).toMatchObject({
      reason: "disabled",
      at: disabled_at,
    });
  });
});

describe("roles", () => {
  test("auditors see everything and change nothing, reviewers decide applications only", () => {
    for (const area of ["users", "applications", "audit", "settings", "admins"] as const) {
      expect([maySee("auditor", area), mayChange("auditor", area)]).toEqual([true, false]);
      expect(mayChange("owner", area)).toBe(true);
      expect(maySee("reviewer", area)).toBe(area === "applications");
      expect(maySee("operator", area)).toBe(area === "applications" || area === "users");
    }
    expect(rolesThatSee("access")).toEqual(["owner", "operator", "auditor"]);
    expect(rolesThatSee("users")).toEqual(["owner", "operator", "auditor"]);
  });
});

describe("text that somebody typed", () => {
  test("isolated() cannot reorder its sentence, and cuts what is long by whole characters", () => {
    expect(isolated("lap\u202Etop\u2069")).toBe("\u2068laptop\u2069");
    expect(cut("🔑".repeat(5), 3)).toBe("🔑🔑🔑 …");
    expect(cut("short", 5)).toBe("short");
  });
});
