/** The database is lost, stands still, or has no room. */

import { join } from "node:path";
import { createTestApp } from "../../support/app.ts";
import { CUT_OPERATIONS, openCutter } from "../../support/cut-anywhere.ts";
import { childrenOf, fill, onStage, type Stage } from "./stage.ts";

/** Callers who do not stop asking; what they were told, by status and sentence. */
async function askedOnAndOn({ call }: Stage, callers: number, milliseconds: number): Promise<Map<string, number>> {
  const told = new Map<string, number>();
  const end = performance.now() + milliseconds;
  const ask = async (caller: number) => {
    for (let count = 0; performance.now() < end; count++) {
      const username = `c${caller}-${count}`;
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
      await stage.recovers(15_000);
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

export const fullDisk = () =>
  onStage({ small: { place: "data", kind: "ext4", size: "160M" } }, async (stage) => {
    const { call, fault, service } = stage;
    await call("POST", "/users", { username: "alice", email: "a@example.org" });
    const makeRoom = fill(join(stage.directory, "data"));
    const told = await askedOnAndOn(stage, 2, 12_000);
    requireSentences(stage, told, "with a full disk");
    fault(![...told.keys()].some((answer) => /disk/.test(answer)), `nobody was told of the disk: ${[...told.keys()]}`);
    await stage.othersAreServed("with a full disk");
    const disabled = await call("POST", "/users/1/disable");
    fault(disabled.status < 500 || !/disk/.test(disabled.body?.error), `disabling: ${JSON.stringify(disabled.body)}`);
    const doctor = service.run(["doctor"]);
    fault(!/0 MB are free/.test(doctor.stdout), `the doctor does not see it: ${doctor.stdout}`);
    makeRoom();
    await stage.recovers(60_000);
    fault((await call("POST", "/users/1/disable")).status !== 200, "alice cannot be disabled once there is room");
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
