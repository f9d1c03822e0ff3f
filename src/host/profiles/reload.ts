/** Telling sshd that its configuration has changed. */

import { readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { SECOND } from "../../shared/time/clock.ts";
import { runCommand } from "../command.ts";
import { readPids } from "../processes/processes.ts";

const LOOK = 10;
const PATIENCE = 5 * SECOND;
/** As sshd calls itself while it listens, and nobody else's program is called. */
const LISTENER = /^sshd: .*\[listener\]/;
const PROGRAM = /\/sshd(?: \(deleted\))?$/;

/**
 * Has every sshd of this host that listens read its configuration anew, and waits until it has. Whoever is connected stays. Where none listens,
 * one is started for each connection, which reads it by itself. False if one goes on as it was.
 */
export async function reloadSshd(): Promise<boolean> {
  const told = readPids().flatMap((pid) => {
    const image = imageOf(pid);
    return image === undefined ? [] : [{ pid, image }];
  });
  for (const { pid } of told) await runCommand(["/usr/bin/kill", "-HUP", "--", String(pid)]);
  const end = performance.now() + PATIENCE;
  for (const { pid, image } of told) {
    while (imageOf(pid) === image) {
      if (performance.now() > end) return false;
      await sleep(LOOK);
    }
  }
  return true;
}

/**
 * What tells one start of a listening sshd from the next under the same number, since its memory lies elsewhere then (proc(5), auxv); undefined for every
 * other process, and in another container.
 */
function imageOf(pid: number): string | undefined {
  try {
    if (!LISTENER.test(readFileSync(`/proc/${pid}/cmdline`, "latin1"))) return undefined;
    if (!PROGRAM.test(readlinkSync(`/proc/${pid}/exe`))) return undefined;
    if (readlinkSync(`/proc/${pid}/ns/pid`) !== readlinkSync("/proc/self/ns/pid")) return undefined;
    return readFileSync(`/proc/${pid}/auxv`, "latin1");
  } catch {
    return undefined;
  }
}
