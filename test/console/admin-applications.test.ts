import { describe, expect, test } from "bun:test";
import { type Application, approvedEnd } from "../../src/console/pages/admin/applications/application.ts";
import { commandOf, moved, nextAfter, sharedNames } from "../../src/console/pages/admin/applications/keys.ts";
import { addressOf, fromTheEnd, readView } from "../../src/console/pages/admin/applications/view.ts";

const PLAIN = { key: "", ctrlKey: false, altKey: false, metaKey: false, isComposing: false };

describe("keys on the list of applications", () => {
  test("commandOf() knows the letters and the arrows", () => {
    const keys = ["j", "ArrowDown", "k", "ArrowUp", "Home", "End", "a", "r"];
    expect(keys.map((key) => commandOf({ ...PLAIN, key }))).toEqual([
      ...(["next", "next", "previous", "previous"] as const),
      ...(["first", "last", "approve", "reject"] as const),
    ]);
  });

  test("commandOf() leaves everything else to the browser", () => {
    for (const key of ["Enter", "Tab", " ", "A", "x", "toString", "constructor"])
      expect(commandOf({ ...PLAIN, key })).toBeUndefined();
    for (const held of ["ctrlKey", "altKey", "metaKey", "isComposing"] as const)
      expect(commandOf({ ...PLAIN, key: "a", [held]: true })).toBeUndefined();
  });

  test("moved() stays within the list", () => {
    const ids = [5, 7, 9];
    expect(moved(ids, 5, "next")).toBe(7);
    expect(moved(ids, 9, "next")).toBe(9);
    expect(moved(ids, 5, "previous")).toBe(5);
    expect([moved(ids, 7, "first"), moved(ids, 7, "last")]).toEqual([5, 9]);
    expect(moved([], 5, "next")).toBe(5);
  });

  test("nextAfter() is the one after, at the end the one before, and nothing for the only one", () => {
    expect(nextAfter([5, 7, 9], 5)).toBe(7);
    expect(nextAfter([5, 7, 9], 9)).toBe(7);
    expect(nextAfter([5], 5)).toBeUndefined();
  });

  test("sharedNames() counts the names that several ask for", () => {
    expect([...sharedNames(["alice", "bob", "alice", "constructor"])]).toEqual([["alice", 2]]);
  });
});

describe("which applications are shown", () => {
  test("readView() is what waits for a decision, unless the address says otherwise", () => {
    expect(readView({})).toEqual({ status: "pending", kind: "all", page: 1 });
    expect(readView({ status: "rejected", kind: "extension", page: "3" })).toEqual({
      status: "rejected",
      kind: "extension",
      page: 3,
    });
    expect(readView({ status: "<b>", kind: "toString", page: "-1" })).toEqual(readView({}));
  });

  test("addressOf() is read back as the same view", () => {
    const views = [
      { status: "pending", kind: "all", page: 1 },
      { status: "all", kind: "access", page: 12 },
    ] as const;
    for (const view of views) {
      const { searchParams } = new URL(addressOf(view), "http://localhost");
      expect(readView(Object.fromEntries(searchParams))).toEqual(view);
    }
    expect(addressOf(views[0])).toBe("/admin/applications");
  });

  test("fromTheEnd() makes the service's last page the first, and stays within the list", () => {
    expect([1, 2, 3].map((page) => fromTheEnd(page, 101, 50))).toEqual([3, 2, 1]);
    expect(fromTheEnd(9, 101, 50)).toBe(1);
    expect(fromTheEnd(1, 0, 50)).toBe(1);
  });
});

describe("approvedEnd()", () => {
  const request = (end_when_asked: string | null) =>
    ({ days: 30, created_at: "2098-12-01T00:00:00.000Z", end_when_asked }) as Application;

  test.each([
    ["2099-01-01T00:00:00.000Z", "2099-01-01T00:00:00.000Z", "2099-01-31T00:00:00.000Z"],
    ["2099-01-01T00:00:00.000Z", "2099-01-11T00:00:00.000Z", "2099-01-31T00:00:00.000Z"],
    ["2099-01-01T00:00:00.000Z", "2099-03-01T00:00:00.000Z", "2099-03-01T00:00:00.000Z"],
    [null, "2099-01-11T00:00:00.000Z", "2099-02-10T00:00:00.000Z"],
  ])("asked for at an end of %p, and now ending %p: %p", (then, end, given) => {
    expect(approvedEnd(request(then), end)).toBe(given);
  });
});
