/** A hostile account's program: `stopper SIGNAL` sends the signal to every process the moment it appears, until it is killed. */

import { readFileSync } from "node:fs";

const signal = process.argv[2] ?? "SIGSTOP";
const AHEAD = 40;

function lastPid(): number {
  return Number(readFileSync("/proc/loadavg", "utf8").trim().split(" ").at(-1));
}

// Only processes of this uid can be hit; the kernel refuses the rest.
let next = lastPid() + 1;
for (;;) {
  const last = lastPid();
  if (last < next - AHEAD) next = last + 1;
  for (let pid = Math.max(1, Math.min(next, last) - AHEAD); pid <= last + 2; pid++) {
    if (pid === process.pid) continue;
    try {
      process.kill(pid, signal);
    } catch {
      // Gone, or not ours.
    }
  }
  next = last + 1;
}
