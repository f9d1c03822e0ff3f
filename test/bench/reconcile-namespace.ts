/** The part of the benchmark of reconcile that runs in a mount namespace: `reconcile-namespace.ts DIRECTORY`. */

import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv, cpuUsage, memoryUsage } from "node:process";
import { createHost } from "../../src/host/create-host.ts";
import { renderAuthorizedKeys } from "../../src/host/key-file/authorized-keys.ts";
import { expiryDay } from "../../src/host/plan/plan.ts";
import { detectExpiryFormat } from "../../src/host/sshd/sshd.ts";
import type { Account } from "../../src/protocol/host.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { recordingLog, testSettings } from "../support/host-account.ts";
import { BINARY } from "../support/service.ts";
import { percentile, timed } from "./bench.ts";

const ACCOUNTS = 10_000;
const ROUNDS = 5;
/** As sudo-look.ts has it. */
const AT_ONCE = 500;
/** Beyond what the accounts of tests that run meanwhile have. */
const FIRST_UID = 1_000_000;
const GROUP = "uam-ext-bench";
const EXPIRE_AT = new Date("2031-03-04T12:00:00Z");

const base = argv[2] ?? "";
execFileSync("mount", ["-t", "tmpfs", "-o", "mode=0755", "uam-bench", base]);
const homes = join(base, "home");
mkdirSync(homes);

const config = sshdConfig();
const accounts = await makeAccounts();
const { log, lines } = recordingLog();
const host = await createHost(
  testSettings({
    mode: "direct",
    homeBase: homes,
    markerGroup: GROUP,
    tools: { sshdConfig: config },
  }),
  log,
  bunRuntime,
);
// Making the directory for what is deleted is no part of reconciling.
const prepared = lines.length;
const before = changeTimes();
const times: number[] = [];
const busy: number[] = [];
const idle = memoryUsage().rss;
let most = idle;
const floors: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  floors.push(
    await timed(async () => {
      for (const { name } of accounts) readFileSync(keysOf(name));
    }),
  );
  const start = cpuUsage();
  times.push(
    await timed(async () => {
      const drifts = await host.reconcile(accounts, false);
      most = Math.max(most, memoryUsage().rss);
      if (drifts.length > 0) throw new Error(`something differed: ${JSON.stringify(drifts[0])}`);
    }),
  );
  const { user, system } = cpuUsage(start);
  busy.push((user + system) / 1e6);
}
const after = changeTimes();
const changed = [...after].filter(([path, time]) => before.get(path) !== time).length;
const applied = lines.slice(prepared).filter(({ message }) => message.startsWith("host: ")).length;
const [time, floor] = [percentile(times, 0.5), percentile(floors, 0.5)];
console.log(`reconcile, median of ${ROUNDS}   ${(time / 1000).toFixed(2)} s (aim: a few seconds)`);
console.log(`processor time           ${percentile(busy, 0.5).toFixed(2)} s (aim 1.5)`);
console.log(`memory beyond before     ${((most - idle) / 2 ** 20).toFixed(0)} MiB (aim 50)`);
console.log(`floor: reading the files ${(floor / 1000).toFixed(2)} s, so ${(time / floor).toFixed(1)} times that`);
console.log(`changes applied          ${applied} (aim 0)`);
console.log(`files written            ${changed} of ${after.size} (aim 0)`);
const asked = lookAsRoot();
console.log(
  `in sudo mode, what root does  ${asked.seconds.toFixed(2)} s of processor time in ${asked.calls} commands (aim: 30 s)`,
);
if (applied + changed > 0) throw new Error("reconcile wrote although nothing differed");

/** What a reconciliation in sudo mode asks root for, without sudo's own share. */
function lookAsRoot(): { readonly seconds: number; readonly calls: number } {
  let microseconds = 0;
  let calls = 0;
  for (; calls * AT_ONCE < ACCOUNTS; calls++) {
    const some = accounts.slice(calls * AT_ONCE, (calls + 1) * AT_ONCE);
    const { stdout, exitCode, resourceUsage } = Bun.spawnSync(
      [BINARY, "host", "look", GROUP, homes, "%h/.ssh/authorized_keys"],
      { stdin: Buffer.from(JSON.stringify(some)), cwd: "/" },
    );
    const found = stdout.toString().trim();
    if (exitCode !== 0 || found !== "[]") throw new Error(`root found something: ${exitCode} ${found.slice(0, 100)}`);
    microseconds += Number(resourceUsage.cpuTime.total);
  }
  return { seconds: microseconds / 1e6, calls };
}

/** Homes with key files, and a copy of /etc with the accounts in it, bound over the host's own in this namespace. */
async function makeAccounts(): Promise<readonly Account[]> {
  const expiry = await detectExpiryFormat(undefined);
  const path = join(base, "key");
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", path]);
  const [type = "", base64 = ""] = readFileSync(`${path}.pub`, "utf8").split(" ");
  const made = Array.from({ length: ACCOUNTS }, (_, index): Account => {
    const [name, uid] = [`ext_tbench${index}`, FIRST_UID + index];
    for (const directory of [join(homes, name), join(homes, name, ".ssh")]) {
      mkdirSync(directory, { mode: 0o700 });
      chownSync(directory, uid, uid);
    }
    const keys = [{ id: index + 1, type, base64, fingerprint: `SHA256:${"k".repeat(43)}` }];
    writeFileSync(keysOf(name), renderAuthorizedKeys(keys, EXPIRE_AT, expiry), { mode: 0o600 });
    chownSync(keysOf(name), uid, uid);
    return { name, uid, expireAt: EXPIRE_AT, open: true, keys };
  });
  // As a whole: a single bound file would be uncovered as soon as useradd, outside, renames another over it.
  // Lock files of account tools that run outside may be gone before they are copied; cp(1) goes on without them.
  spawnSync("cp", ["-a", "/etc", join(base, "etc")]);
  execFileSync("mount", ["--bind", join(base, "etc"), "/etc"]);
  const names = made.map(({ name }) => name);
  append(
    "/etc/passwd",
    [...made].map(({ name, uid }) => `${name}:x:${uid}:${uid}::${homes}/${name}:/bin/bash`),
  );
  append("/etc/group", [
    `${GROUP}:x:${FIRST_UID - 1}:${names.join(",")}`,
    ...made.map(({ name, uid }) => `${name}:x:${uid}:`),
  ]);
  append(
    "/etc/shadow",
    names.map((name) => `${name}:*:19000:::::${expiryDay(EXPIRE_AT)}:`),
  );
  return made;
}

function append(path: string, more: readonly string[]): void {
  writeFileSync(path, `${readFileSync(path, "utf8").trimEnd()}\n${more.join("\n")}\n`);
}

/** Two key files for each account, as sshd reads by default. */
function sshdConfig(): string {
  mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const key = join(base, "host_key");
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
  const path = join(base, "sshd_config");
  writeFileSync(path, `HostKey ${key}\nAuthorizedKeysFile .ssh/authorized_keys .ssh/authorized_keys2\n`);
  return path;
}

function keysOf(name: string): string {
  return join(homes, name, ".ssh/authorized_keys");
}

/** When each file or directory that reconcile could write was last changed, in any way (ctime). */
function changeTimes(): ReadonlyMap<string, number> {
  const paths = accounts.flatMap(({ name }) => {
    const keys = keysOf(name);
    return [join(homes, name), join(keys, ".."), keys];
  });
  return new Map([...paths, "/etc/passwd", "/etc/shadow", "/etc/group"].map((path) => [path, lstatSync(path).ctimeMs]));
}
