/** The database is lost, stands still, or has no room. */

import { spawn } from "node:child_process";
import { join } from "node:path";
import { RESERVE_SIZE, reserveIn, reserveLeft } from "../../../src/shared/work/reserve.ts";
import { createTestApp } from "../../support/app.ts";
import { CUT_OPERATIONS, openCutter } from "../../support/cut-anywhere.ts";
import { HANG } from "../../support/hang.ts";
import { childrenOf, fill, onStage, type Stage } from "./stage.ts";

/** How often callers asked: each time for other names, for who is refused too often is refused everything for a while. */
let asked = 0;

/** Callers who do not stop asking; what they were told, by status and sentence. */
async function askedOnAndOn({ call }: Stage, callers: number, milliseconds: number): Promise<Map<string, number>> {
  const told = new Map<string, number>();
  const end = performance.now() + milliseconds;
  const round = ++asked;
  const ask = async (caller: number) => {
    for (let count = 0; performance.now() < end; count++) {
      const username = `c${round}-${caller}-${count}`;
      const { status, body } = await call("POST", "/users", {
        username,
        email: "a@example.org",
        purpose: "x".repeat(900),
      });
      const key = `${status} ${body?.error ?? ""}`.trim();
      told.set(key, (told.get(key) ?? 0) + 1);
      if (status !== 201) await Bun.sleep(50);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => ask(caller)));
  return told;
}

/** Nobody is left alone with an internal error, or without any answer. */
function requireSentences({ fault }: Stage, told: Map<string, number>, when: string): void {
  for (const [answer, count] of told) {
    fault(/^0|internal error/.test(answer), `${when}, ${count} were told: ${answer || "nothing"}`);
  }
}

export const killedServer = (times = 8) =>
  onStage({}, async (stage) => {
    for (let time = 0; time < times; time++) {
      const asking = askedOnAndOn(stage, 4, 4000);
      await Bun.sleep(1000);
      killIfRunning(stage.postmaster());
      // Again, while it is being started, and what was asked of it then has no answer yet.
      for (let wait = 0; time % 2 === 1 && wait < 300 && !isRunning(stage.postmaster()); wait++) await Bun.sleep(10);
      killIfRunning(stage.postmaster());
      requireSentences(stage, await asking, "with the server killed");
      await stage.recovers(HANG);
    }
  });

export const cutBackends = () =>
  onStage({}, async (stage) => {
    const asking = askedOnAndOn(stage, 6, 8000);
    for (let time = 0; time < 30; time++) {
      await Bun.sleep(200);
      for (const pid of childrenOf(stage.postmaster())) if (time % 3 === pid % 3) terminate(pid);
    }
    requireSentences(stage, await asking, "with connections cut all the time");
    await stage.recovers(10_000);
    await stage.othersAreServed("once connections stay");
  });

/** 0 is nobody, and not this process's group. */
function killIfRunning(pid: number): void {
  if (isRunning(pid)) process.kill(pid, "SIGKILL");
}

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A checkpointer that ends makes the server restart; the others are only connections. */
function terminate(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch {
    // Ended meanwhile.
  }
}

export const frozenServer = () =>
  onStage({}, async (stage) => {
    const { fault, call } = stage;
    const pids = () => [stage.postmaster(), ...childrenOf(stage.postmaster())];
    for (const pid of pids()) process.kill(pid, "SIGSTOP");
    await Bun.sleep(1500);
    const began = performance.now();
    const health = await call("GET", "/healthz");
    fault(
      health.body?.data?.status !== "degraded",
      `/healthz says ${JSON.stringify(health.body)} of a frozen database`,
    );
    fault((await call("GET", "/readyz")).status !== 503, "/readyz says that a frozen database is ready");
    fault(performance.now() - began > 6000, "the checks take longer than six seconds");
    const waiting = Array.from({ length: 10 }, () => call("GET", "/users", undefined, 90_000));
    await Bun.sleep(5000);
    for (const pid of pids()) process.kill(pid, "SIGCONT");
    await stage.recovers(15_000);
    for (const { status } of await Promise.all(waiting))
      fault(status === 0, "a request that waited was never answered");
  });

/** Waits for the job of each minute; whether it laid the reserve. */
async function reserveIsLaid(data: string): Promise<boolean> {
  const isLaid = () => reserveLeft(reserveIn(data)) === RESERVE_SIZE;
  for (let wait = 0; wait < (2 * HANG) / 100 && !isLaid(); wait++) await Bun.sleep(100);
  return isLaid();
}

export const fullDisk = () =>
  onStage({ small: { place: "data", kind: "ext4", size: "500M" } }, async (stage) => {
    const { call, fault, service, directory } = stage;
    const data = join(directory, "data");
    for (const username of ["alice", "bob", "carol", "dave", "erin"])
      await call("POST", "/users", { username, email: "a@example.org" });
    await reserveIsLaid(data);
    fill(data);
    const told = await askedOnAndOn(stage, 2, 12_000);
    requireSentences(stage, told, "with a full disk");
    fault(![...told.keys()].some((answer) => /disk/.test(answer)), `nobody was told of the disk: ${[...told.keys()]}`);
    await stage.othersAreServed("with a full disk");
    fault(!/0 MB are free/.test(service.run(["doctor"]).stdout), "the doctor does not see that the disk is full");

    // A server that ended for want of room, and started again, has dropped what it needs no more.
    fill(data);
    const disabled = await call("POST", "/users/1/disable");
    fault(disabled.status !== 200, `disabling on a full disk: ${disabled.status} ${JSON.stringify(disabled.body)}`);
    fault(
      reserveLeft(reserveIn(data)) === RESERVE_SIZE,
      "nothing of the reserve was given up, so the disk was not full",
    );
    const created = await call("POST", "/users", { username: "early", email: "a@example.org" });
    fault(!/disk/.test(created.body?.error ?? ""), `access is given from the reserve: ${JSON.stringify(created.body)}`);
    const { stdout } = service.run(["doctor"]);
    fault(!/reserve of the database is in use/.test(stdout), `the doctor does not see the reserve: ${stdout}`);

    // What was given up is taken by whoever filled the disk, who goes on while the next one is disabled and may be faster each time.
    const makeRoom = fill(data);
    const eater = spawn("/bin/sh", ["-c", `while :; do cat /dev/zero >> ${data}/filler; done 2>/dev/null`]);
    const byCommand = service.run(["user", "disable", "bob"]);
    const ate = new Promise((done) => eater.once("exit", done));
    eater.kill("SIGKILL");
    await ate;
    const isOutstanding = byCommand.stderr.includes("It will not be given back");
    const isRefused = byCommand.stderr.includes("its disk is full");
    fault(
      byCommand.status !== 0 && !isOutstanding && !isRefused,
      `uam user disable while the disk is filled: ${byCommand.stderr}`,
    );

    makeRoom();
    await stage.recovers(60_000);
    fault(!(await reserveIsLaid(data)), "the reserve is not laid again once there is room");
    fill(data);
    const locked = service.run(["lock", "dave"]);
    fault(locked.status !== 0, `uam lock on a full disk: ${locked.stderr}`);

    // Nor does a database that ends for want of room stay away.
    fill(data);
    process.kill(stage.postmaster(), "SIGKILL");
    let last = await call("POST", "/users/3/disable");
    for (let wait = 0; wait < 150 && last.status !== 200; wait++) {
      await Bun.sleep(200);
      last = await call("POST", "/users/3/disable");
    }
    fault(last.status !== 200, `disabling after a crash on a full disk: ${last.status} ${JSON.stringify(last.body)}`);
    makeRoom();
    await stage.recovers(60_000);
    const expected = `disabled ${isRefused ? "active" : "disabled"} disabled disabled active`;
    let states = "";
    // What is outstanding is finished within a minute.
    for (let wait = 0; wait < (2 * HANG) / 1000 && states !== expected; wait++) {
      if (wait > 0) await Bun.sleep(1000);
      const users = await Promise.all([1, 2, 3, 4, 5].map((id) => call("GET", `/users/${id}`)));
      states = users.map(({ body }) => body?.data?.status).join(" ");
    }
    fault(states !== expected, `in the end they are ${states}, and not ${expected}`);
  });

/** In this process, with a host in memory: some four hundred cuts. */
export async function cutAnywhere(): Promise<readonly string[]> {
  const app = await createTestApp();
  const cutter = await openCutter(app);
  const faults: string[] = [];
  try {
    for (const name of CUT_OPERATIONS) {
      const walked = await cutter.walk(name, 1);
      faults.push(...walked.faults);
      console.log(`  ${name}: cut ${walked.cuts} times`);
    }
  } finally {
    await cutter.close();
    await app.close();
  }
  return faults;
}
