import { afterAll, describe, expect, test } from "bun:test";
import { checkHosts } from "../../src/doctor/hosts.ts";
import { HOUR, shift } from "../../src/shared/time/clock.ts";
import { VERSION } from "../../src/shared/version.ts";
import { hostProblems } from "../../src/store/schema-fleet.ts";
import { createTestApp } from "../support/app.ts";
import { insertHost } from "../support/host-rows.ts";

const app = await createTestApp();
afterAll(() => app.close());

const found = async () => (await checkHosts(app.services)).map(({ state, finding }) => `${state}: ${finding}`);

describe("checkHosts()", () => {
  test("finds nothing to say with the service's own host alone, and says that all are heard of", async () => {
    expect(await found()).toEqual([]);
    await insertHost(app, "web1", { version: VERSION });
    expect(await found()).toEqual(["ok: 1 host heard of"]);
  });

  test("names the hosts that are silent, diverged, shut or older, and what is wrong there", async () => {
    const seen = shift(app.clock.now(), -2 * HOUR);
    await insertHost(app, "web2", { version: "0.0.1", leaseMs: 0 });
    expect(await found()).toEqual([
      "ok: 2 hosts heard of",
      "note: web2: It has no lease: cut off from the service, it stays open indefinitely",
      `note: 1 host with an agent older than this service (${VERSION}): web2`,
    ]);
    await insertHost(app, "web3", { version: "latest", lastSeenAt: seen, divergedAt: seen });
    const { id } = await insertHost(app, "web4", { version: `${VERSION}-1` });
    await app.db
      .insert(hostProblems)
      .values({ hostId: id, account: "ext_a", kind: "refused", text: "busy", since: app.clock.now() });
    const all = await found();
    expect(all).toContain("fault: web4, ext_a: busy");
    expect(all.find((finding) => finding.startsWith("fault: web3: Not heard of since"))).toBeDefined();
    expect(all.find((finding) => finding.startsWith("fault: web3: It has applied changes"))).toBeDefined();
    expect(all.join("\n")).not.toContain("web3, ");
    expect(all.filter((finding) => finding.includes("older"))).toHaveLength(1);
  });

  test("lists ten of a kind, and says how many more there are", async () => {
    for (let index = 0; index < 14; index++) await insertHost(app, `node${index}`, { status: "locked" });
    const locked = (await found()).filter((finding) => finding.includes("locked"));
    expect(locked).toHaveLength(11);
    expect(locked.at(-1)).toBe("note: And 4 more of this kind (locked)");
  });
});
