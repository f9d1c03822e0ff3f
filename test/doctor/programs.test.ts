import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, linkSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkDisputedPrograms, checkOwnProgram } from "../../src/doctor/programs.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-programs-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));
const at = (name: string) => join(top, name);
writeFileSync(at("packaged"), "#!/bin/sh\necho 'sudo-rs 0.2.5' >&2\n");
chmodSync(at("packaged"), 0o755);
symlinkSync("packaged", at("link"));
linkSync(at("packaged"), at("same"));
writeFileSync(at("copy"), "another");

describe("checkDisputedPrograms", () => {
  test("checkDisputedPrograms() says what a name leads to and which version that is", async () => {
    const [finding] = await checkDisputedPrograms([at("link"), "/nowhere/that-is-missing"]);
    expect(finding?.state).toBe("ok");
    expect(finding?.finding).toBe(
      `In use are ${at("link")} (${at("packaged")}): sudo-rs 0.2.5, no /nowhere/that-is-missing`,
    );
  });
});

describe("checkOwnProgram", () => {
  test("checkOwnProgram() notes a copy that hides the package's program, and nothing else", () => {
    expect(checkOwnProgram(at("copy"), at("packaged"))).toMatchObject([
      { state: "note", finding: expect.stringContaining(`a shell runs ${at("copy")}`) },
    ]);
    expect(checkOwnProgram(at("link"), at("packaged"))).toEqual([]);
    expect(checkOwnProgram(at("missing"), at("packaged"))).toEqual([]);
    expect(checkOwnProgram(at("copy"), at("missing"))).toEqual([]);
  });
});
