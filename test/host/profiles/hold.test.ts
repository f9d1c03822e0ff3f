import { describe, expect, test } from "bun:test";
import { createHost } from "../../../src/host/create-host.ts";
import { bunRuntime } from "../../../src/runtime/bun.ts";
import { recordingLog, testSettings } from "../../support/host-account.ts";

describe("holdProfiles()", () => {
  test("says in a dry run which profiles it would hold, and changes nothing", async () => {
    const { log, lines } = recordingLog();
    const host = await createHost(testSettings({ mode: "dry-run" }), log, bunRuntime);
    const profile = { name: "drop", kind: "sftp", directory: "/data/drop", secondFactor: "none" } as const;
    expect(await host.holdProfiles([profile], "give")).toEqual([{ name: "drop", state: "applied" }]);
    expect(JSON.stringify(lines)).toContain('"profile":"drop"');
  });
});
