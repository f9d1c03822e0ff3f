import { describe, expect, test } from "bun:test";
import { createWindow, type Entry } from "../../../src/domain/wire/recent-changes.ts";

const HOST = 7;
const window = (size = 100) => createWindow(size, (user) => user < 100);
const about = (id: number, user = id): Entry => ({
  id,
  touch: { kind: "user", user, regrants: false },
  hosts: undefined,
});

describe("createWindow()", () => {
  test("tells a host that comes back from before what is kept everything, and one from its very beginning what came after", () => {
    const kept = window();
    kept.begin(10, [about(11)]);
    // Between 9 and 10 something may have been taken away that nobody here knows of.
    expect(kept.since(HOST, 9)).toEqual({ kind: "whole" });
    expect(kept.since(HOST, 10)).toEqual({ kind: "changes", users: [11], removals: false });
    expect(kept.since(HOST, 11)).toEqual({ kind: "nothing" });
  });

  test("forgets the oldest, and knows from where on", () => {
    const kept = window(10);
    kept.begin(0, []);
    for (let id = 1; id <= 11; id++) kept.add(about(id));
    expect(kept.since(HOST, 0)).toMatchObject({ kind: "changes" });
    kept.add(about(12));
    // Two were dropped, 1 and 2: who has seen 2 misses nothing.
    expect(kept.since(HOST, 1)).toEqual({ kind: "whole" });
    expect(kept.since(HOST, 2)).toMatchObject({ kind: "changes", users: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12] });
  });

  test("tells of users who have an account there, or are named with the host, and of no others", () => {
    const kept = window();
    kept.begin(0, [about(1, 1), about(2, 500), { ...about(3, 501), hosts: new Set([HOST]) }]);
    expect(kept.since(HOST, 0)).toEqual({ kind: "changes", users: [1, 501], removals: false });
    expect(kept.since(HOST + 1, 0)).toEqual({ kind: "changes", users: [1], removals: false });
  });

  test("says that something may have to be removed only to whom was not told since", () => {
    const kept = window();
    kept.begin(0, [{ ...about(1, 500), touch: { kind: "user", user: 500, regrants: true } }]);
    expect(kept.since(HOST, 0)).toEqual({ kind: "changes", users: [], removals: true });
    expect(kept.since(HOST, 1)).toEqual({ kind: "nothing" });
    kept.add({ ...about(2, 501), touch: { kind: "user", user: 501, regrants: true } });
    expect(kept.since(HOST, 1)).toEqual({ kind: "changes", users: [], removals: true });
  });

  test("tells a host everything after a change of the host itself, of one of its groups, of a profile that somebody has there, or of all", () => {
    const host = window();
    host.begin(0, [{ id: 1, touch: { kind: "host", host: HOST }, hosts: undefined }]);
    expect([host.since(HOST, 0).kind, host.since(HOST + 1, 0).kind]).toEqual(["whole", "nothing"]);
    const group = window();
    group.begin(0, [{ id: 1, touch: { kind: "group", group: 3 }, hosts: new Set([HOST]) }]);
    expect(group.since(HOST, 0)).toEqual({ kind: "whole" });
    expect(group.since(HOST + 1, 0)).toEqual({ kind: "changes", users: [], removals: true });
    const profile = window();
    profile.begin(0, [{ id: 1, touch: { kind: "profile", profile: 3 }, hosts: new Set([HOST]) }]);
    expect([profile.since(HOST, 0).kind, profile.since(HOST + 1, 0).kind]).toEqual(["whole", "nothing"]);
    const all = window();
    all.begin(0, [{ id: 1, touch: { kind: "all" }, hosts: undefined }]);
    expect(all.since(HOST, 0)).toEqual({ kind: "whole" });
  });
});
