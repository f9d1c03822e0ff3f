import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../../src/build/build.ts";
import { ownArchitecture } from "../../src/build/packages.ts";
import { SERVER_VERSION } from "../../src/build/postgres/pinned.ts";
import { serverUnderTest } from "../support/server-under-test.ts";
import { describeSlow } from "../support/thorough.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-build-"));
chmodSync(top, 0o711);
afterAll(() => rmSync(top, { recursive: true, force: true }));

function buildProbe(name: string): Promise<number> {
  const entry = join(import.meta.dir, "../support/binary-probe.ts");
  return build({
    architecture: ownArchitecture(),
    version: "9.8.7~test",
    postgres: serverUnderTest,
    entry,
    outfile: join(top, name),
    cache: join(top, "cache"),
    level: 1,
  });
}

describeSlow("build", () => {
  test("build() makes one file that runs by itself, whatever directory it is started in", async () => {
    await buildProbe("probe");
    const directory = join(top, "hostile");
    mkdirSync(directory);
    const mark = join(directory, "preloaded");
    writeFileSync(join(directory, "bunfig.toml"), 'preload = ["./preload.ts"]\n');
    writeFileSync(join(directory, "preload.ts"), `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "");\n`);
    writeFileSync(join(directory, ".env"), "FROM_DOTENV=1\n");
    const temporary = join(top, "temporary");
    mkdirSync(temporary);
    const options = { cwd: directory, env: { TMPDIR: temporary }, encoding: "utf8" } as const;
    const run = spawnSync(join(top, "probe"), [join(top, "data")], options);
    expect(run.stderr).toBe("");
    expect(JSON.parse(run.stdout)).toMatchObject({
      version: "9.8.7~test",
      commit: expect.stringMatching(/^([0-9a-f]{12}|unknown)$/),
      postgres: serverUnderTest === "source" ? SERVER_VERSION : expect.stringMatching(/^18\./),
      hash: expect.stringContaining("$argon2id$"),
      png: true,
      passkey: true,
      dotenv: null,
    });
    expect(existsSync(mark)).toBe(false);
    // Native libraries are loaded from memory: where temporary files lie, others write, and nothing may be executed.
    expect(readdirSync(temporary)).toEqual([]);
  }, 180_000);
});
