import { afterAll, expect, setDefaultTimeout } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { databaseDirectory } from "../../../support/directory.ts";
import { testSlow } from "../../../support/thorough.ts";

setDefaultTimeout(180_000);

const directory = databaseDirectory("uam-test-cli-backup-");
afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));

const MAIN = join(import.meta.dir, "../../../../src/main.ts");
const file = join(directory, "a.backup");

/** Runs the program on an embedded PostgreSQL in the data directory of that name. */
function uam(name: string, args: readonly string[], variables: Record<string, string> = {}) {
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", UAM_DATA_DIR: join(directory, name), ...variables };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { env, cwd: directory });
  return { status, stdout, text: stdout.toString(), error: stderr.toString() };
}

testSlow("uam backup writes all that is stored to a file, and uam restore brings it to another installation", () => {
  expect(uam("a", ["admin", "add", "root-admin", "--email", "a@example.org"]).status).toBe(0);
  const made = uam("a", ["backup", file]);
  expect(made.status).toBe(0);
  const amount = "\\d+ rows of \\d+ tables \\(\\d+\\.\\d MB\\)";
  expect(made.error).toMatch(new RegExp(`^${amount} were written to ${file} in \\d+\\.\\d s, as of [\\dT:.-]+Z\\.\n$`));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(uam("a", ["backup", file])).toMatchObject({ status: 1, error: expect.stringContaining("--force") });
  expect(uam("a", ["backup", file, "--force"]).status).toBe(0);

  expect(uam("none", ["restore", "--check", file])).toMatchObject({
    status: 0,
    text: expect.stringMatching(/admins +1\n/),
  });
  expect(JSON.parse(uam("none", ["restore", "--check", "--json", file]).text)).toMatchObject({
    audit_key: true,
    bytes: statSync(file).size,
    rows: { admins: 1 },
  });
  expect(existsSync(join(directory, "none"))).toBe(false);

  const restored = uam("b", ["restore", file]);
  expect(restored.status).toBe(0);
  expect(restored.error).toContain("reconcile");
  expect(restored.error).toMatch(
    new RegExp(`^${amount} were read from ${file} in \\d+\\.\\d s, begun [\\dT:.-]+Z\\.\n`),
  );
  expect(readFileSync(join(directory, "b/audit.key"))).toEqual(readFileSync(join(directory, "a/audit.key")));
  expect(uam("b", ["admin", "add", "root-admin", "--email", "a@example.org"])).toMatchObject({
    status: 1,
    error: expect.stringContaining("root-admin"),
  });
});

testSlow("uam backup --into makes one in a directory that can be restored, and removes the oldest", () => {
  const into = join(directory, "made/each/day");
  expect(uam("a", ["backup", "--into", into, "--keep", "2"]).status).toBe(0);
  const [first = ""] = readdirSync(into);
  expect(first).toMatch(/^uam-\d{8}T\d{6}\.\d{3}Z\.uam-backup$/);
  expect([statSync(into).mode & 0o777, statSync(join(into, first)).mode & 0o777]).toEqual([0o700, 0o600]);
  const older = ["uam-20250101T000000.000Z.uam-backup", "uam-20250102T000000.000Z.uam-backup"];
  for (const name of [...older, "mine.uam-backup"]) writeFileSync(join(into, name), "");
  const { status, error } = uam("a", ["backup", "--into", into, "--keep", "2"]);
  expect([status, error]).toEqual([0, expect.stringContaining(`${join(into, older[0] ?? "")} was removed.`)]);
  const left = readdirSync(into).sort();
  expect(left).toEqual(["mine.uam-backup", first, left.at(-1) ?? ""].sort());
  expect(uam("none", ["restore", "--check", join(into, left.at(-1) ?? "")]).status).toBe(0);

  chmodSync(into, 0o770);
  const refused = uam("a", ["backup", "--into", into, "--keep", "1"]);
  expect([refused.status, refused.error]).toEqual([1, expect.stringContaining(`Others can write to ${into}`)]);
  for (const args of [["--into", into, file], [], [file, "--keep", "2"], ["--into", into, "--force"]]) {
    expect([args, uam("a", ["backup", ...args]).status]).toEqual([args, 1]);
  }
  expect(readdirSync(into).sort()).toEqual(left);
});

testSlow("uam backup --send gives it to UAM_BACKUP_COMMAND, and reads it again by UAM_BACKUP_READ_COMMAND", () => {
  const far = join(directory, "far");
  mkdirSync(far);
  const send = { UAM_BACKUP_COMMAND: `/usr/bin/tee ${far}/{name}` };
  const both = { ...send, UAM_BACKUP_READ_COMMAND: `/usr/bin/cat ${far}/{name}` };
  const made = uam("f", ["admin", "add", "root-admin", "--email", "a@example.org"]);
  expect([made.status, uam("f", ["backup", "--send"], both).status]).toEqual([0, 0]);
  const [name = ""] = readdirSync(far);
  expect(uam("none", ["restore", "--check", join(far, name)]).status).toBe(0);
  expect(uam("f", ["backup", "--send"], send).error).toContain("; nothing read it again");
  const refused = uam("f", ["backup", "--send"], { ...send, UAM_BACKUP_READ_COMMAND: "/usr/bin/false {name}" });
  expect([refused.status, refused.error]).toEqual([
    1,
    expect.stringContaining("/usr/bin/false ended with exit code 1. The backup does not count as made."),
  ]);
  for (const args of [["--send"], ["--send", "--force"], ["--send", "--keep", "2"], ["--send", "x"]]) {
    expect([args, uam("f", ["backup", ...args]).status]).toEqual([args, 1]);
  }
  const { items } = JSON.parse(uam("f", ["audit", "list", "--json", "--action", "service.backup"]).text);
  const details = items.map(({ detail }: { detail: string }) => JSON.parse(detail));
  expect(details).toMatchObject([
    { program: "/usr/bin/tee", read_again: true, err: expect.stringContaining("/usr/bin/false") },
    { program: "/usr/bin/tee", read_again: false },
    { program: "/usr/bin/tee", read_again: true, file: name },
  ]);
});

testSlow(
  "uam backup and uam restore are on record, a backup that fails too, and the restore in the restored log",
  () => {
    const records = (name: string, action: string) =>
      JSON.parse(uam(name, ["audit", "list", "--json", "--action", action]).text).items;
    // The backup of the test before, the one that found the file there, and the one that replaced it.
    // Before these, the newest first, are the two into a directory.
    const all = records("a", "service.backup");
    expect(all.slice(0, 2)).toMatchObject([{ result: "success" }, { result: "success" }]);
    expect(all.slice(2)).toMatchObject([
      { result: "success", actor_type: "cli", resource_type: "", resource_id: "" },
      { result: "failed" },
      { result: "success" },
    ]);
    const [newest, failed] = all.slice(2).map(({ detail }: { detail: string }) => JSON.parse(detail));
    expect(newest).toEqual({ file, bytes: statSync(file).size, as_of: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(failed).toEqual({ file, err: expect.stringContaining("--force") });
    const [restored, ...rest] = records("b", "service.restore");
    expect([rest, restored.result, JSON.parse(restored.detail)]).toEqual([
      [],
      "success",
      { file, as_of: newest.as_of, program: expect.any(String), saved_as: "" },
    ]);
    expect(uam("b", ["audit", "verify"]).status).toBe(0);
  },
);

testSlow("uam restore --force keeps what was there, its audit key included, and replaces it only when told to", () => {
  expect(uam("c", ["admin", "add", "other", "--email", "c@example.org"]).status).toBe(0);
  const key = readFileSync(join(directory, "c/audit.key"), "utf8");
  expect(uam("c", ["restore", file])).toMatchObject({ status: 1, error: expect.stringContaining("not empty") });
  expect(readFileSync(join(directory, "c/audit.key"), "utf8")).toBe(key);
  expect(uam("c", ["restore", file, "--force"]).status).toBe(0);
  const kept = readdirSync(join(directory, "c"));
  const saved = kept.find((name) => name.endsWith(".uam-backup")) ?? "";
  const oldKey = kept.find((name) => name.startsWith("audit.key.")) ?? "";
  expect(readFileSync(join(directory, "c", oldKey), "utf8")).toBe(key);
  expect(uam("c", ["audit", "verify"]).status).toBe(0);
  expect(uam("c", ["restore", "--force", join(directory, "c", saved)]).status).toBe(0);
  expect(readFileSync(join(directory, "c/audit.key"), "utf8")).toBe(key);
});

testSlow("uam restore with a UAM_AUDIT_KEY that is not the log's changes nothing", () => {
  const variables = { UAM_AUDIT_KEY: "ab".repeat(32) };
  expect(uam("d", ["restore", file], variables)).toMatchObject({
    status: 1,
    error: expect.stringContaining("UAM_AUDIT_KEY"),
  });
  expect(uam("d", ["restore", file]).status).toBe(0);
});

testSlow("uam backup - writes the same to standard output, and fails if nobody reads it to the end", async () => {
  const { status, stdout } = uam("a", ["backup", "-"]);
  expect(status).toBe(0);
  const copy = join(directory, "stdout.backup");
  writeFileSync(copy, stdout);
  expect(uam("none", ["restore", "--check", copy]).status).toBe(0);
  expect(uam("none", ["restore", "-"]).error).toContain("put it in a file");
  const checked = (input: Buffer) =>
    spawnSync(process.execPath, [MAIN, "restore", "--check", "--json", "-"], { input, env: { PATH: "/usr/bin" } });
  const { status: known, stdout: shown } = checked(stdout);
  expect([known, JSON.parse(shown.toString()).bytes]).toEqual([0, stdout.length]);
  const { status: cut, stderr } = checked(stdout.subarray(0, -1));
  expect([cut, stderr.toString()]).toEqual([1, expect.stringContaining("The backup is damaged")]);
  const env = { PATH: "/usr/bin", UAM_DATA_DIR: join(directory, "a") };
  const child = spawn(process.execPath, [MAIN, "backup", "-"], { env, stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  let error = "";
  child.stderr.on("data", (text: Buffer) => {
    error += text.toString();
  });
  expect(await new Promise((resolve) => child.on("close", resolve))).toBe(1);
  expect(error).toContain("not a backup");
});

testSlow("uam restore refuses while uam serve runs", async () => {
  const env = {
    PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
    UAM_DATA_DIR: join(directory, "e"),
    UAM_LISTEN: `unix:${join(directory, "e.sock")}`,
  };
  const service = spawn(process.execPath, [MAIN, "serve"], {
    env,
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise<void>((resolve) => {
    let log = "";
    service.stderr.on("data", (text: Buffer) => {
      log += text.toString();
      if (log.includes("serving")) resolve();
    });
    service.on("close", () => resolve());
  });
  const attempt = uam("e", ["restore", "--force", file]);
  service.kill("SIGTERM");
  await new Promise((resolve) => service.on("close", resolve));
  expect(attempt).toMatchObject({ status: 1, error: expect.stringContaining("Stop it") });
  expect(uam("e", ["restore", file]).status).toBe(0);
});
