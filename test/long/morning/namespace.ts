/** The part of the morning that runs in a mount namespace: `namespace.ts DIRECTORY USERS`. Without a directory the host is in memory. */

import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process, { argv } from "node:process";
import { followDueHours } from "../../../src/domain/lifecycle/hours.ts";
import { createHost } from "../../../src/host/create-host.ts";
import { SHUT_DAY } from "../../../src/host/plan/plan.ts";
import { bunRuntime } from "../../../src/runtime/bun.ts";
import { silentLog } from "../../../src/shared/log.ts";
import { MINUTE, SECOND, shift } from "../../../src/shared/time/clock.ts";
import { accounts, sshKeys, users } from "../../../src/store/schema.ts";
import { grants } from "../../../src/store/schema-fleet.ts";
import { describeMachine, percentile } from "../../bench/bench.ts";
import { createTestApp } from "../../support/app.ts";
import { createFakeHost } from "../../support/fake-host.ts";
import { testSettings } from "../../support/host-account.ts";
import { freshKey } from "../../support/keys.ts";

/** Beyond what the accounts of tests that run meanwhile have. */
const FIRST_UID = 1_000_000;
const GROUP = "uam-ext-morning";
/** When the window that begins ends: 18:00 in Berlin. */
const END = Date.parse("2026-11-27T17:00:00Z");
/** Between two reads, in milliseconds. */
const READS = 100;

const [, , base = "", count = "10000"] = argv;
const many = Number(count);
const homes = join(base, "home");
const names = Array.from({ length: many }, (_, index) => `tmorning${index}`);

const app = await createTestApp();
// A Friday: Berlin is at 07:59.
const begin = new Date("2026-11-27T07:00:00Z");
app.clock.set(shift(begin, -MINUTE));
const { client } = await app.user("reader");
await client.call("POST", "/me/keys", { name: "laptop", public_key: freshKey() });
await storeUsers();
const { host, left } = base === "" ? hostInMemory() : await realHost();

app.clock.set(begin);
const began = performance.now();
const spent = process.cpuUsage();
let isOver = false;
const reads: number[] = [];
const reading = read();
await followDueHours({ ...app.services, host }, base === "" ? tmpdir() : base);
const took = performance.now() - began;
const { user, system } = process.cpuUsage(spent);
isOver = true;
await reading;
const { shut, wrong } = left();
console.log(describeMachine());
console.log(
  `${many} users until the last is open  ${(took / SECOND).toFixed(1)} s, ${(took / many).toFixed(1)} ms each; ${((user + system) / 1000 / many).toFixed(2)} ms of the program's processor time each, reads included; ${base === "" ? "a host in memory" : "real accounts in direct mode"}`,
);
console.log(
  `GET /me/keys meanwhile           ${reads.length} times: median ${percentile(reads, 0.5).toFixed(0)} ms, 99 of 100 within ${percentile(reads, 0.99).toFixed(0)} ms, the longest ${Math.max(...reads).toFixed(0)} ms (aim 250)`,
);
console.log(`not open, or with another file   ${shut}, ${wrong} (aim 0)`);
await app.close();
process.exit(wrong + shut === 0 ? 0 : 1);

/** Real accounts in direct mode; `left` counts those that are shut still, and the key files that are not as they should be. */
async function realHost() {
  execFileSync("mount", ["-t", "tmpfs", "-o", "mode=0755", "uam-morning", base]);
  mkdirSync(homes);
  makeAccounts();
  mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const key = join(base, "host_key");
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
  const sshdConfig = join(base, "sshd_config");
  writeFileSync(sshdConfig, `HostKey ${key}\n`);
  const settings = testSettings({ mode: "direct", homeBase: homes, markerGroup: GROUP, tools: { sshdConfig } });
  const shutIn = (line: string) => line.startsWith("ext_tmorning") && line.split(":")[7] === String(SHUT_DAY);
  return {
    host: await createHost(settings, silentLog, bunRuntime),
    left: () => ({
      shut: readFileSync("/etc/shadow", "utf8").split("\n").filter(shutIn).length,
      wrong: names.filter((name) => !keysOf(name).includes('expiry-time="20261127165959Z"')).length,
    }),
  };
}

/** What the service and its database do for it is the same. */
function hostInMemory() {
  const memory = createFakeHost(0);
  for (const [index, name] of names.entries())
    memory.accounts.set(`ext_${name}`, { uid: FIRST_UID + index, open: false, expireAt: new Date(0), file: [] });
  const all = () => names.flatMap((name) => memory.accounts.get(`ext_${name}`) ?? []);
  return {
    host: memory,
    left: () => ({
      shut: all().filter(({ open }) => !open).length,
      wrong: all().filter(({ file, expireAt }) => file.length !== 1 || Number(expireAt) !== END).length,
    }),
  };
}

async function read(): Promise<void> {
  while (!isOver) {
    const start = performance.now();
    const { status } = await client.call("GET", "/me/keys");
    if (status !== 200) throw new Error(`GET /me/keys: ${status}`);
    reads.push(performance.now() - start);
    await Bun.sleep(READS);
  }
}

function keysOf(name: string): string {
  return readFileSync(join(homes, `ext_${name}`, ".ssh/authorized_keys"), "utf8");
}

/** Shut accounts, as the evening before leaves them, in a copy of /etc that covers the host's own in this namespace. */
function makeAccounts(): void {
  spawnSync("cp", ["-a", "/etc", join(base, "etc")]);
  execFileSync("mount", ["--bind", join(base, "etc"), "/etc"]);
  const made = names.map((name, index) => ({ name: `ext_${name}`, uid: FIRST_UID + index }));
  for (const { name, uid } of made) {
    mkdirSync(join(homes, name, ".ssh"), { recursive: true, mode: 0o700 });
    writeFileSync(join(homes, name, ".ssh/authorized_keys"), "", { mode: 0o600 });
    for (const path of [join(homes, name, ".ssh/authorized_keys"), join(homes, name, ".ssh")])
      chownSync(path, uid, uid);
  }
  append(
    "/etc/passwd",
    made.map(({ name, uid }) => `${name}:x:${uid}:${uid}::${homes}/${name}:/bin/sh`),
  );
  append("/etc/group", [
    `${GROUP}:x:${FIRST_UID - 1}:${made.map(({ name }) => name).join(",")}`,
    ...made.map(({ name, uid }) => `${name}:x:${uid}:`),
  ]);
  append(
    "/etc/shadow",
    made.map(({ name }) => `${name}:*:19000::99999::::`.replace("::::", `:::${SHUT_DAY}:`)),
  );
}

function append(path: string, more: readonly string[]): void {
  writeFileSync(path, `${readFileSync(path, "utf8").trimEnd()}\n${more.join("\n")}\n`);
}

async function storeUsers(): Promise<void> {
  const at = app.clock.now();
  const times = { expireAt: shift(begin, 90 * 24 * 60 * MINUTE), createdAt: at, updatedAt: at };
  const hours = { hours: "mon-fri 08:00-18:00 Europe/Berlin", hoursDueAt: begin };
  for (let from = 0; from < many; from += 500) {
    const some = names.slice(from, from + 500);
    const rows = await app.db
      .insert(users)
      .values(some.map((username) => ({ username, email: `${username}@example.org`, ...times, ...hours })))
      .returning({ id: users.id });
    await app.db.insert(accounts).values(rows.map(({ id }, index) => ({ userId: id, uid: FIRST_UID + from + index })));
    await app.db.insert(grants).values(rows.map(({ id }) => ({ userId: id, hostId: 1, createdAt: at })));
    const keys = rows.map(({ id }) => {
      const publicKey = freshKey();
      const fingerprint = `SHA256:${Buffer.from(Bun.SHA256.hash(publicKey) as Uint8Array)
        .toString("base64")
        .slice(0, 43)}`;
      return { userId: id, name: "laptop", type: "ssh-ed25519", bits: 256, fingerprint, publicKey, createdAt: at };
    });
    await app.db.insert(sshKeys).values(keys);
  }
}
