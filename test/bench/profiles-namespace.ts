/** The part of the benchmark of profiles that runs in a mount namespace: `profiles-namespace.ts DIRECTORY`. */

import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";
import { groupOf, PROFILED_GROUP, sshdFileIn } from "../../src/host/profiles/names.ts";
import { renderBlocks } from "../../src/host/profiles/sshd-blocks.ts";
import type { HostProfile } from "../../src/protocol/profile.ts";
import { profiledSshd, profilePathsIn } from "../support/profiled-host.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";
import { percentile } from "./bench.ts";

const ROUNDS = 40;
/** Beyond what the accounts of tests that run meanwhile have. */
const FIRST_UID = 1_000_000;
/** What no block but that of the account's own profile says. */
const SESSIONS = 7;

interface Variant {
  readonly what: string;
  readonly etc: string;
  readonly sshd: TestSshd;
  readonly account: string;
  readonly key: string;
  readonly asked: number[];
  readonly loggedIn: number[];
}

const base = argv[2] ?? "";
execFileSync("mount", ["-t", "tmpfs", "-o", "mode=0755", "uam-bench", base]);
const one = await variantOf("1 account in 1 profile", 1, 1);
const crowd = await variantOf("10,000 accounts in 1 profile", 10_000, 1);
const many = await variantOf("10,000 accounts in 20 profiles", 10_000, 20);
const variants = [one, crowd, many];
// The first round is for caches.
for (let round = 0; round <= ROUNDS; round++) for (const variant of variants) measure(variant, round > 0);
for (const { sshd } of variants) sshd.stop();
console.log(`median of ${ROUNDS}, in turns              sshd -T -C          a login`);
for (const { what, asked, loggedIn } of variants) {
  const [ask, login] = [percentile(asked, 0.5), percentile(loggedIn, 0.5)];
  const ratios = [ask / percentile(one.asked, 0.5), login / percentile(one.loggedIn, 0.5)];
  const [asking, logging] = ratios.map((ratio) => ratio.toFixed(2));
  console.log(`${what.padEnd(32)}  ${ask.toFixed(1)} ms, ${asking} times  ${login.toFixed(1)} ms, ${logging} times`);
}
console.log("aim: at most 1.1 times");

/** A copy of /etc with so many accounts, and an sshd that is told of so many profiles; the last account is in the last of them. */
async function variantOf(what: string, accounts: number, profiles: number): Promise<Variant> {
  const directory = join(base, `${accounts}-${profiles}`);
  mkdirSync(directory, { mode: 0o755 });
  const etc = join(directory, "etc");
  // Lock files of account tools that run outside may be gone before they are copied; cp(1) goes on without them.
  spawnSync("cp", ["-a", "/etc", etc]);
  const names = Array.from({ length: accounts }, (_, index) => `ext_tbench${index}`);
  const held = Array.from({ length: profiles }, (_, index): HostProfile => {
    const maxSessions = index === profiles - 1 ? { maxSessions: SESSIONS } : {};
    return { name: `bench${String(index).padStart(2, "0")}`, kind: "shell", secondFactor: "none", ...maxSessions };
  });
  append(
    join(etc, "passwd"),
    names.map((name, index) => `${name}:x:${FIRST_UID + index}:${FIRST_UID + index}::${directory}/home:/bin/sh`),
  );
  // As they come to be: profiles before who has them. sshd looks up the name of each group, and reads as far as its line.
  append(join(etc, "group"), [
    `uam-ext:x:${FIRST_UID - 1}:${names.join(",")}`,
    `${PROFILED_GROUP}:x:${FIRST_UID - 2}:${names.join(",")}`,
    ...held.map(({ name }, index) => {
      const members = names.filter((_, member) => member % profiles === index);
      return `${groupOf(name)}:x:${FIRST_UID - 3 - index}:${members.join(",")}`;
    }),
    ...names.map((name, index) => `${name}:x:${FIRST_UID + index}:`),
  ]);
  append(
    join(etc, "shadow"),
    names.map((name) => `${name}:*:19000::::::`),
  );
  const lines = profiledSshd(directory);
  writeFileSync(
    sshdFileIn(profilePathsIn(directory).directory),
    renderBlocks(held.map((profile) => ({ profile, isShut: false }))),
  );
  const sshd = await startSshd(directory, lines);
  const { path: key } = sshd.makeKey(1);
  const account = names.at(-1) ?? "";
  const keys = join(directory, "keys", account);
  mkdirSync(keys, { mode: 0o755 });
  copyFileSync(`${key}.pub`, join(keys, "authorized_keys"));
  mkdirSync(join(directory, "home"), { mode: 0o755 });
  chownSync(join(directory, "home"), FIRST_UID + accounts - 1, FIRST_UID + accounts - 1);
  return { what, etc, sshd, account, key, asked: [], loggedIn: [] };
}

/** With the variant's accounts in place of the host's. */
function measure({ etc, sshd, account, key, asked, loggedIn }: Variant, counts: boolean): void {
  execFileSync("mount", ["--bind", etc, "/etc"]);
  try {
    const start = performance.now();
    const of = `user=${account},addr=127.0.0.1,host=localhost`;
    const { stdout } = spawnSync("/usr/sbin/sshd", ["-T", "-f", sshd.config, "-C", of], { encoding: "utf8" });
    const answered = performance.now();
    if (!new RegExp(`^maxsessions ${SESSIONS}$`, "m").test(stdout)) throw new Error("sshd does not say the profile");
    const began = performance.now();
    if (!sshd.login(account, key)) throw new Error("sshd does not let the account in");
    const ended = performance.now();
    if (!counts) return;
    asked.push(answered - start);
    loggedIn.push(ended - began);
  } finally {
    // Whoever still has a file of it open keeps that one.
    execFileSync("umount", ["--lazy", "/etc"]);
  }
}

function append(path: string, more: readonly string[]): void {
  writeFileSync(path, `${readFileSync(path, "utf8").trimEnd()}\n${more.join("\n")}\n`);
}
