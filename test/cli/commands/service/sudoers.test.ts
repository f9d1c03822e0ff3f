import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requireRootsAlone } from "../../../../src/cli/commands/service/sudoers.ts";

describe("requireRootsAlone", () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "uam-sudoers-"));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  test("requireRootsAlone() accepts a program of the system", () => {
    requireRootsAlone("/usr/bin/env");
  });

  test("requireRootsAlone() refuses a program that others can replace, also behind a link", () => {
    const place = join(directory, "open");
    mkdirSync(place);
    chmodSync(place, 0o777);
    const program = join(place, "uam");
    writeFileSync(program, "", { mode: 0o755 });
    symlinkSync(program, join(directory, "link"));
    for (const path of [program, join(directory, "link")])
      expect(() => requireRootsAlone(path)).toThrow(/^Users other than root can change .*, and root would run /);
  });
});
