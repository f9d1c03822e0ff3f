/** One round: an account with keys that log in, a hostile preparation, a failure, a closing; and real logins after each answer. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { processesOf, readProcesses } from "../../../src/host/processes/processes.ts";
import { mountsWithin, readMounts } from "../../../src/host/safe-open.ts";
import { HANG } from "../../support/hang.ts";
import { type Answer, CLOSINGS, type Closing, type Subject } from "./closings.ts";
import { type Armed, armFailure } from "./failures.ts";
import type { Lane } from "./lane.ts";
import { PREPARATIONS } from "./preparations.ts";
import { createRandom, type Random } from "./random.ts";

export interface RoundReport {
  readonly seed: number;
  /** What was done, in the order of it, and what was answered. */
  readonly story: readonly string[];
  /** What must not be. */
  readonly faults: readonly string[];
  readonly seconds: number;
  /** The keys that must never log in again. */
  readonly dead: readonly { readonly account: string; readonly path: string }[];
}

let keys = 0;

export async function runRound(lane: Lane, seed: number, thorough: boolean): Promise<RoundReport> {
  const begin = performance.now();
  const random = createRandom(seed);
  const drawn = Object.entries(CLOSINGS).filter(([, { isSlow }]) => thorough || isSlow !== true);
  const name = random.pick(drawn.map(([each]) => each));
  const closing = CLOSINGS[name] as Closing;
  const prepared = Array.from({ length: random.pick([1, 1, 2]) }, () => random.pick(Object.keys(PREPARATIONS)));
  const story = [`${lane.kind.mode} on ${lane.kind.homes}: ${name}`, `prepared: ${prepared.join(" and ")}`];
  const faults: string[] = [];
  await lane.start();
  const subject = await makeSubject(lane, random, closing.keys);
  await closing.before?.(lane, subject);
  const dead = closing.takes === "all" ? subject.keyPaths : subject.keyPaths.slice(0, 1);
  const undo: ((() => Promise<void>) | undefined)[] = [];
  let armed: Armed | undefined;
  const watch = async (when: string): Promise<void> => {
    const admitted = await Promise.all(dead.map((path) => subject.sshd.admits(subject.account, path)));
    if (admitted.includes(true)) faults.push(`a key that was taken away logs in ${when}`);
  };
  try {
    for (const preparation of prepared) undo.push(await PREPARATIONS[preparation]?.(subject));
    armed = await armFailure(lane, random, thorough);
    story.push(`failing: ${armed.name}`);
    let answer = await closing.ask(lane, subject, random);
    story.push(`answer: ${answer.text}`);
    if (
      answer.kind === "none" &&
      !armed.reachesDatabase &&
      lane.alive() &&
      closing.takes === "all" &&
      name !== "uam lock"
    )
      faults.push(`it was not begun, although only the host fails: ${answer.text}`);
    if (isClosed(answer)) await watch("after the answer");
    if (answer.kind === "done" && closing.leaves !== "open" && running(subject.uid) > 0)
      faults.push("it was answered as done, and processes run");
    if (random.onceIn(3) || !lane.alive()) {
      await restart(lane, armed);
      if (isClosed(answer)) await watch("after a restart");
    }
    await armed.end();
    if (isClosed(answer)) await watch("after the failure ended");
    for (let attempt = 0; attempt < 4 && !isClosed(answer); attempt++) {
      await restart(lane, armed);
      answer = await closing.ask(lane, subject);
      story.push(`asked again: ${answer.text}`);
      if (isClosed(answer)) await watch("after it was asked again");
    }
    if (!isClosed(answer)) faults.push("it is not closed although nothing fails any more");
  } finally {
    await armed?.end();
    lane.shims.clear();
    for (const end of undo) await end?.();
    await cleanHome(lane, subject);
  }
  await lane.start();
  await settled(lane, subject, closing, faults);
  await watch("in the end");
  sweep(subject);
  const seconds = (performance.now() - begin) / 1000;
  return { seed, story, faults, seconds, dead: dead.map((path) => ({ account: subject.account, path })) };
}

const isClosed = ({ kind }: Answer): boolean => kind === "done" || kind === "owed";
const running = (uid: number): number => processesOf(readProcesses(), uid).length;

async function restart(lane: Lane, armed: Armed): Promise<void> {
  await lane.kill();
  try {
    await lane.start();
  } catch {
    // What fails may keep it from starting.
    await armed.end();
    await lane.start();
  }
}

/** A user with an account and keys that log in. On a machine this busy a command or a login may take too long once. */
export async function makeSubject(lane: Lane, random: Random, count: 1 | 2): Promise<Subject> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryToMakeSubject(lane, random, count);
    } catch (error) {
      if (attempt === 3) throw error;
      // What failed in the round before may still be on the mend.
      await Bun.sleep(2000);
    }
  }
}

async function tryToMakeSubject(lane: Lane, random: Random, count: 1 | 2): Promise<Subject> {
  const sshd = random.pick(lane.ground.sshds);
  const username = `tp${lane.index}x${++keys}`;
  const made = await lane.call("POST", "/users", lane.admin(), { username, email: "x@example.org" });
  if (made?.status !== 201) throw new Error(`no user: ${JSON.stringify(made)}`);
  const account = `ext_${username}`;
  const code = (await lane.command(["otp", username])).output.match(/^\d{8}$/m)?.[0] ?? "";
  const session = (await lane.call("POST", "/auth/otp/login", "", { username, code }))?.cookie ?? "";
  const pairs = Array.from({ length: count }, () => sshd.makeKey(++keys));
  const keyIds: number[] = [];
  for (const { path } of pairs) {
    const key = { name: "key", public_key: readFileSync(`${path}.pub`, "utf8") };
    const answer = await lane.call("POST", "/me/keys", session, key);
    if (answer?.status !== 201) throw new Error(`no key: ${JSON.stringify(answer)}`);
    keyIds.push(answer.body.data.id);
  }
  const keyPaths = pairs.map(({ path }) => path);
  const uid = Number(spawnSync("id", ["-u", account], { encoding: "utf8" }).stdout);
  const admitted = keyPaths.map(async (path) => {
    // On a machine this busy a client may give up.
    for (let attempt = 0; attempt < 3; attempt++) if (await sshd.admits(account, path)) return true;
    return false;
  });
  if ((await Promise.all(admitted)).includes(false))
    throw new Error(`a key of ${account} that was just uploaded does not log in`);
  return {
    ...{
      username,
      userId: made.body.data.id,
      account,
      uid,
      home: join(lane.base, account),
      session,
      sshd,
      neighbour: lane.neighbour(),
    },
    ...{ keyPaths, keyIds, fingerprints: pairs.map(({ key }) => key.fingerprint) },
    lines: pairs.map(({ key }) => `${key.type} ${key.base64}`),
  };
}

/** With nothing in the way any more, what is owed is done, and nothing is left of what was to go. */
async function settled(lane: Lane, subject: Subject, { leaves }: Closing, faults: string[]): Promise<void> {
  let left = "";
  for (const end = performance.now() + HANG; ; await Bun.sleep(300)) {
    const { output } = await lane.command(["reconcile"]);
    const owed = await lane.sql(`select kind, problem from closings where user_id = ${subject.userId}`);
    left = owed.length === 0 ? "" : `${JSON.stringify(owed)} ${output}`;
    if (left === "" || performance.now() > end) break;
  }
  if (left !== "") faults.push(`something is still owed with nothing in the way: ${left}`);
  let [row] = await lane.sql(`select status from users where id = ${subject.userId}`);
  // A recycling that could not even be noted is tried again a minute after it failed; until then the account is shut.
  for (const end = performance.now() + 80_000; leaves === "nothing" && row !== undefined && performance.now() < end; ) {
    await Bun.sleep(2000);
    await lane.command(["recycle", "--now"]);
    [row] = await lane.sql(`select status from users where id = ${subject.userId}`);
  }
  const exists = spawnSync("id", [subject.account]).status === 0;
  if (leaves === "nothing" && (row !== undefined || exists))
    faults.push(`it is not gone: ${JSON.stringify(row)}, ${exists}`);
  if (leaves === "shut" && !["disabled", "expired"].includes(String(row?.status)))
    faults.push(`it is stored as ${row?.status}`);
  if (leaves === "outside" && row?.status !== "active") faults.push(`it is stored as ${row?.status}`);
  if (leaves !== "open" && running(subject.uid) > 0) faults.push("processes run in the end");
}

/** What root's own attributes, mounts and files keep from being set right. */
export async function cleanHome(lane: Pick<Lane, "base">, subject: Pick<Subject, "home">): Promise<void> {
  for (const mount of mountsWithin(readMounts(), subject.home)) spawnSync("umount", ["-l", mount.path]);
  // What fills the file system would keep the next round from making its account.
  const names = ["f[0-9]*", "big", "rest", ".uam.*"].flatMap((name) => ["-o", "-name", name]).slice(1);
  spawnSync("find", [subject.home, "-xdev", "(", ...names, ")", "-delete"]);
  for (const path of [subject.home, join(lane.base, ".uam-trash")]) {
    for (let round = 0; round < 2; round++) spawnSync("chattr", ["-R", "-f", "-i", "-a", path]);
  }
}

/** Ends what the account runs and has scheduled. */
export function sweep({ uid, account }: Pick<Subject, "uid" | "account">): void {
  for (let round = 0; round < 20 && running(uid) > 0; round++) spawnSync("pkill", ["-KILL", "-U", String(uid)]);
  spawnSync("rm", ["-f", `/var/spool/cron/crontabs/${account}`]);
}
