/**
 * A program that has uids in a way that most do not: `other-uids WAY STARTER UID`, started as root. `effective`: the uid is its effective one
 * only. `thread`: one thread has it, and the first is the starter's. `forks`: as the first, and it forks and ends, again and again.
 */

import { dlopen, FFIType } from "bun:ffi";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const { i64 } = FFIType;
const { symbols } = dlopen("libc.so.6", {
  syscall: { args: [i64, i64, i64, i64, i64], returns: i64 },
  fork: { args: [], returns: FFIType.i32 },
  setresuid: { args: [FFIType.u32, FFIType.u32, FFIType.u32], returns: FFIType.i32 },
  _exit: { args: [FFIType.i32], returns: FFIType.void },
});
const SETRESUID = process.arch === "arm64" ? 147 : 117;

/** Of the calling thread alone. */
function become(real: number, effective: number, saved: number): void {
  if (Number(symbols.syscall(SETRESUID, real, effective, saved, 0)) !== 0) throw new Error("setresuid failed");
}

function announce(): void {
  process.stdout.write("ready\n");
  setInterval(() => {}, 60_000);
}

if (isMainThread) {
  const [way = "", starter = 0, uid = 0] = process.argv
    .slice(2)
    .map((word, index) => (index === 0 ? word : Number(word)));
  if (way === "thread") {
    new Worker(new URL(import.meta.url), { workerData: Number(uid) }).once("message", () => {
      become(Number(starter), Number(starter), Number(starter));
      announce();
    });
  } else {
    // Of all threads, as a set-uid program has it after `setresuid(-1, -1, getuid())`.
    symbols.setresuid(Number(starter), Number(uid), Number(starter));
    if (way === "forks") {
      process.stdout.write("ready\n");
      await Bun.sleep(50);
      for (;;) if (symbols.fork() !== 0) symbols._exit(0);
    }
    announce();
  }
} else {
  become(workerData, workerData, workerData);
  const { parentPort } = await import("node:worker_threads");
  parentPort?.postMessage("ready");
  setInterval(() => {}, 60_000);
}
