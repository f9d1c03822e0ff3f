import { afterAll, beforeAll, describe, expect, setSystemTime, test } from "bun:test";
import { navigationFor } from "../../../../src/console/navigation.ts";
import { namesIn } from "../../../../src/console/pages/admin/names.ts";
import { leaseIn, nameIn } from "../../../../src/console/pages/hosts/lease-text.ts";
import { stateOf } from "../../../../src/console/pages/hosts/state.ts";
import { addressOfHosts, askOf, isAll, readHostsView } from "../../../../src/console/pages/hosts/view.ts";
import { maySee, rolesThatSee } from "../../../../src/console/roles.ts";
import { hostTexts } from "../../../../src/console/texts/hosts/hosts.ts";
import { LOCALE } from "../../../../src/console/texts/language.ts";
import { hostsSentence, withHosts } from "../../../../src/console/ui/confirmed.ts";

/** Noon today where the reader is. */
const noon = new Date();
noon.setHours(12, 0, 0, 0);
// Else another day could begin meanwhile.
beforeAll(() => setSystemTime(noon));
afterAll(() => setSystemTime());

describe("where a change is true", () => {
  const by = noon.toISOString();
  const time = noon.toLocaleTimeString(LOCALE, { timeStyle: "short" });
  const sentence = (total: number, pending: readonly string[], effective_by: string | null = by) =>
    hostsSentence({ hosts: { total, confirmed: total - pending.length, pending, effective_by } });

  test("nothing is said where no further host is concerned", () => {
    expect(hostsSentence({ status: "disabled" })).toBe("");
    expect(withHosts("Done.", { status: "disabled" })).toBe("Done.");
  });

  test("hosts that have not confirmed it are named, with the time by which it is true there", () => {
    expect(sentence(42, [])).toBe("It is true on every host.");
    expect(sentence(42, ["web7"])).toBe(`True on 41 of 42 further hosts; on web7 by ${time} at the latest.`);
    expect(sentence(1, ["web7"])).toBe(`True on 0 of 1 further host; on web7 by ${time} at the latest.`);
    expect(sentence(9, ["a", "b", "c", "d"])).toContain("; on a, b, c and d by");
    expect(sentence(9, ["a", "b", "c", "d", "e"])).toContain("; on a, b, c and 2 others by");
  });

  test("more hosts than are named are counted", () => {
    const hosts = { total: 10_000, confirmed: 0, pending: ["a", "b", "c", "d", "e"], effective_by: by };
    expect(hostsSentence({ hosts })).toContain("; on a, b, c and 9,997 others by");
  });

  test("another day has its date, and a host without a lease no time", () => {
    expect(sentence(2, ["web7"], "2031-05-04T12:00:00Z")).toMatch(/on web7 by .*2031.* at the latest/);
    expect(sentence(2, ["web7"], null)).toEndWith("on web7 only once it answers, for want of a lease.");
  });
});

describe("the list of hosts", () => {
  test("what makes no sense in the address does not count", () => {
    const view = readHostsView({ q: "x".repeat(100), group: "web", status: "burning", page: "-1" });
    expect(view).toEqual({ q: "x".repeat(63), group: "web", status: "", page: 1 });
    expect(readHostsView({ status: "locked", page: "3" })).toEqual({ q: "", group: "", status: "locked", page: 3 });
  });

  test("the address says what is not as usual, and the service is asked the same", () => {
    expect(addressOfHosts({ q: "", group: "", status: "", page: 1 })).toBe("/admin/hosts");
    expect(addressOfHosts({ q: "a b", status: "locked", page: 2 })).toBe("/admin/hosts?q=a+b&status=locked&page=2");
    const view = { q: " web ", group: "", status: "locked", page: 1 } as const;
    expect(askOf(view, 50)).toEqual({ q: "web", status: "locked", page: "1", page_size: "50" });
    expect([isAll(view), isAll({ q: " ", group: "", status: "", page: 4 })]).toEqual([false, true]);
  });

  test("a host whose lease has ended is shut, unless it has none or is locked anyway", () => {
    const host = { kind: "remote", status: "active", lease: "4h", lease_until: noon.toISOString() } as const;
    expect(stateOf(host, noon.getTime() - 1)).toBe("active");
    expect(stateOf(host, noon.getTime())).toBe("ended");
    expect(stateOf({ ...host, lease: "none" }, noon.getTime())).toBe("active");
    expect(stateOf({ ...host, status: "locked" }, noon.getTime())).toBe("locked");
    expect(stateOf({ ...host, kind: "local", lease_until: null }, noon.getTime())).toBe("active");
  });

  test("a clock is right, fast or slow", () => {
    expect([0, 999, 1500, -90_000, 7_200_000].map(hostTexts.clock)).toEqual([
      ...["clock right", "clock right", "clock 2 s fast", "clock 90 s slow", "clock 120 min fast"],
    ]);
  });
});

describe("what is typed", () => {
  test("a lease is told from what is none", () => {
    expect(["", " 4H ", "none", "7d"].map(leaseIn)).toEqual([null, "4h", "none", "7d"]);
    expect(["4m", "8d", "soon", "-1h"].map(leaseIn)).toEqual([undefined, undefined, undefined, undefined]);
  });

  test("a name is stored in small letters, and is no number", () => {
    expect([" Web1 ", "a.b-c_d", "x".repeat(63)].map(nameIn)).toEqual(["web1", "a.b-c_d", "x".repeat(63)]);
    expect(["", "12", "-a", "a b", "wéb", "x".repeat(64)].map(nameIn)).toEqual(Array(6).fill(undefined));
  });

  test("names may stand one a line or in a row, each counts once", () => {
    expect(namesIn(" web1, WEB2\n\nweb1 web3,")).toEqual(["web1", "web2", "web3"]);
    expect(namesIn(" \n")).toEqual([]);
  });
});

describe("roles", () => {
  test("operators see hosts, reviewers do not, and there is no link while there is only one", () => {
    expect(rolesThatSee("hosts")).toEqual(["owner", "operator", "auditor"]);
    expect(maySee("reviewer", "hosts")).toBe(false);
    const links = (role: "operator" | "reviewer", hasHosts: boolean) => {
      const principal = { user_type: "admin", id: 1, username: "ada", role } as const;
      return navigationFor({ kind: "open", principal } as never, hasHosts).map(({ href }) => href);
    };
    expect(links("operator", true)).toContain("/admin/hosts");
    expect(links("operator", false)).not.toContain("/admin/hosts");
    expect(links("reviewer", true)).not.toContain("/admin/hosts");
  });
});
