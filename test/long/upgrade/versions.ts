/** The programs of older versions, each built from its commit once, and a log filled by the code of 0.1.0. */

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The commits: that of 0.1.0 is before the audit log counted its series, so that the whole log has to be rewritten. */
const COMMITS = { "0.1.0": "70720e2", "0.2.0": "f64368a", "0.3.0": "3357c7b" } as const;
const REPOSITORY = join(import.meta.dir, "../../..");

export type OldVersion = keyof typeof COMMITS;

/** Oldest first. */
export const OLD_VERSIONS = Object.keys(COMMITS) as readonly OldVersion[];

export interface OldProgram {
  readonly binary: string;
  /** Its sources, with what they need installed. */
  readonly source: string;
}

/** Takes some minutes the first time. */
export function buildOld(version: OldVersion, tell: (line: string) => void): OldProgram {
  const cache = join(REPOSITORY, `dist/cache/uam-${version}`);
  const source = join(cache, "source");
  const binary = join(cache, "uam");
  if (existsSync(binary)) return { binary, source };
  tell(`building ${version}`);
  mkdirSync(cache, { recursive: true });
  if (!existsSync(source)) run(REPOSITORY, "git", "clone", "--quiet", "--shared", REPOSITORY, source);
  run(source, "git", "checkout", "--quiet", "--detach", COMMITS[version]);
  run(source, process.execPath, "install", "--frozen-lockfile");
  run(source, process.execPath, "src/build/build.ts");
  copyFileSync(join(source, "dist/uam"), binary);
  return { binary, source };
}

/** The Debian package of that version, made once by its own code of its own program. */
export function packageOld(version: OldVersion, tell: (line: string) => void): string {
  const { source } = buildOld(version, tell);
  const path = join(source, "../uam.deb");
  if (existsSync(path)) return path;
  const partial = join(source, "dist/partial.deb");
  run(source, process.execPath, "src/build/deb.ts", "--uncompressed", partial);
  renameSync(partial, path);
  return path;
}

/** Fills an empty log, by the code that made the logs of that version for its benchmarks. */
export function fillLog({ source }: OldProgram, socket: string, records: number): void {
  const script = join(source, "fill.ts");
  writeFileSync(
    script,
    `import { openDatabase } from "./src/db/client.ts";
import { busyDraft, fillAuditLog, seededRandom } from "./test/support/audit-log.ts";
const handle = openDatabase({ host: ${JSON.stringify(socket)}, port: 5432, username: "postgres", database: "uam" }, 1);
const start = new Date(Date.now() - ${records} * 20_000);
await fillAuditLog(handle.db, ${records}, busyDraft(seededRandom(1), start, 20_000));
await handle.close();
`,
  );
  run(source, process.execPath, script);
}

/** The key that those logs are sealed with. */
export const AUDIT_KEY = Buffer.alloc(32, 7).toString("hex");

function run(directory: string, command: string, ...args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: directory, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stdout}${stderr}`);
}
