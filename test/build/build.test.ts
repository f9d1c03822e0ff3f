import { afterAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { build } from "../../src/build/build.ts";
import { ownArchitecture, PROJECT } from "../../src/build/packages.ts";
import { isThorough } from "../support/thorough.ts";

const top = mkdtempSync(join(tmpdir(), "uam-test-build-"));
chmodSync(top, 0o711);
afterAll(() => rmSync(top, { recursive: true, force: true }));

function buildProbe(name: string): Promise<number> {
  const entry = join(import.meta.dir, "../support/binary-probe.ts");
  return build({
    architecture: ownArchitecture(),
    entry,
    outfile: join(top, name),
    cache: join(top, "cache"),
    level: 1,
  });
}

/** The SHA-256 of the program itself, built in a clone of its own; only PostgreSQL is packed faster than for a release. */
function buildClone(name: string, variables: Readonly<Record<string, string>>): string {
  const clone = join(top, name);
  const outfile = join(clone, "dist/uam");
  const options = { architecture: ownArchitecture(), entry: join(clone, "src/main.ts"), outfile, level: 1 };
  const script = `import { build } from "./src/build/build.ts";
    await build(${JSON.stringify({ ...options, cache: join(clone, "dist/cache") })});`;
  succeed(["git", "clone", "--quiet", PROJECT, clone], top, {});
  succeed([process.execPath, "install", "--frozen-lockfile", "--silent"], clone, {});
  succeed([process.execPath, "-e", script], clone, variables);
  const digest = createHash("sha256").update(readFileSync(outfile)).digest("hex");
  rmSync(clone, { recursive: true });
  return digest;
}

function succeed(argv: readonly string[], cwd: string, variables: Readonly<Record<string, string>>): void {
  const [program = "", ...args] = argv;
  const { status, stderr } = spawnSync(program, args, { cwd, env: { ...process.env, ...variables }, encoding: "utf8" });
  if (status !== 0) throw new Error(`${argv.join(" ")} ended with ${status}: ${stderr}`);
}

describe("build", () => {
  test("build() makes one file that runs with nothing around it, whatever directory it is started in", async () => {
    await buildProbe("probe");
    const directory = join(top, "hostile");
    mkdirSync(directory);
    const mark = join(directory, "preloaded");
    writeFileSync(join(directory, "bunfig.toml"), 'preload = ["./preload.ts"]\n');
    writeFileSync(join(directory, "preload.ts"), `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "");\n`);
    writeFileSync(join(directory, ".env"), "FROM_DOTENV=1\n");
    const options = { cwd: directory, env: {}, encoding: "utf8" } as const;
    const run = spawnSync(join(top, "probe"), [join(top, "data")], options);
    expect(run.stderr).toBe("");
    expect(JSON.parse(run.stdout)).toMatchObject({
      commit: expect.stringMatching(/^([0-9a-f]{12}|unknown)$/),
      postgres: expect.stringMatching(/^18\./),
      hash: expect.stringContaining("$argon2id$"),
      png: true,
      dotenv: null,
    });
    expect(existsSync(mark)).toBe(false);
  }, 60_000);

  // Two whole builds: in CI only.
  test.if(isThorough)(
    "build() gives the same bytes for the same commit, wherever the checkout is and whatever the environment",
    () => {
      const first = buildClone("first", { TZ: "UTC", LC_ALL: "C" });
      const second = buildClone("elsewhere/with a longer name", { TZ: "Asia/Tokyo", LC_ALL: "C.UTF-8" });
      expect(second).toBe(first);
    },
    120_000,
  );
});
