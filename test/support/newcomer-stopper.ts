/** A hostile account's program: `stopper SIGNAL FILE` makes the file, and from then on sends the signal to every process the moment it appears. */

import { readFileSync, writeFileSync } from "node:fs";

const [, , signal = "SIGSTOP", begun = ""] = process.argv;
const AHEAD = 40;

function lastPid(): number {
  return Number(readFileSync("/proc/loadavg", "utf8").trim().split(" ").at(-1));
}

// Only processes of this uid can be hit; the kernel refuses the rest.
let next = lastPid() + 1;
writeFileSync(begun, "");
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
