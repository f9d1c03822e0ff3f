/** The hosts of the history: each a directory with a small disk, an agent in a process of its own, a timer, a clock and a wire. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { LEASE_SCRIPT } from "../../../../src/install/lease-script.ts";
import { joinHost } from "../../../support/join-host.ts";
import { isLetIn } from "./login.ts";
import { type Places, placesIn } from "./places.ts";
import { layWire, type Wire } from "./wire.ts";

const PROGRAM = join(import.meta.dir, "agent.ts");
/** Seconds between two looks of the timer. */
const PERIOD = 1;

export interface TestHost {
  readonly name: string;
  readonly wire: Wire;
  letsIn(account: string, key: string): boolean;
  start(): void;
  kill(): Promise<void>;
  signal(name: "SIGSTOP" | "SIGCONT"): void;
  /** What is in /run is gone, as after a boot. */
  emptyRun(): void;
  setClock(milliseconds: number): void;
  fillDisk(): void;
  emptyDisk(): void;
}

export interface Hosts {
  readonly all: readonly TestHost[];
  close(): Promise<void>;
}

/** Joins a host with each line; none is started yet. `origin` is where the service is. */
export async function joinHosts(lines: readonly string[], origin: string): Promise<Hosts> {
  const top = mkdtempSync(join(tmpdir(), "uam-history-"));
  const all: (TestHost & { end(): Promise<void> })[] = [];
  for (const [index, line] of lines.entries()) {
    const name = `host${index + 1}`;
    const base = join(top, name);
    const places = placesIn(base);
    const wire = await layWire(origin);
    prepare(base, places);
    await joinHost({ directory: places.directory, line, name, service: wire.origin });
    all.push(hostIn(base, name, wire));
  }
  return {
    all,
    async close() {
      for (const host of all) await host.end();
      rmSync(top, { recursive: true, force: true });
    },
  };
}

function prepare(base: string, places: Places): void {
  for (const path of [base, join(base, "disk"), places.files.directory, places.bin])
    mkdirSync(path, { recursive: true });
  if (process.getuid?.() === 0) must("mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", join(base, "disk"));
  mkdirSync(places.directory, { recursive: true, mode: 0o700 });
  writeFileSync(places.files.target, "# none\n");
  writeFileSync(places.skew, "0");
  const date = `#!/bin/sh\nread -r off <${places.skew}\necho $(( $(/usr/bin/date "$@") + off / 1000 ))\n`;
  writeFileSync(join(places.bin, "date"), date, { mode: 0o755 });
}

function hostIn(base: string, name: string, wire: Wire): TestHost & { end(): Promise<void> } {
  const places = placesIn(base);
  const filler = join(base, "disk/filler");
  const bound = ["--pdeathsig=KILL"];
  let child: ChildProcess | undefined;
  const loop = `while :; do /bin/sh -c "$0" sh ${places.files.directory}; sleep ${PERIOD}; done`;
  const env = { PATH: `${places.bin}:/usr/sbin:/usr/bin:/sbin:/bin` };
  const timer = spawn("/usr/bin/setpriv", [...bound, "/bin/sh", "-c", loop, LEASE_SCRIPT], { env, stdio: "ignore" });
  async function kill(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child?.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }
  return {
    ...{ name, wire, kill },
    letsIn: (account, key) => isLetIn(places, account, key),
    start() {
      const argv = [...bound, process.execPath, PROGRAM, base];
      child = spawn("/usr/bin/setpriv", argv, { stdio: ["ignore", "ignore", "ignore"] });
    },
    signal: (which) => void child?.kill(which),
    emptyRun: () => rmSync(places.files.directory, { recursive: true, force: true }),
    setClock(milliseconds) {
      writeFileSync(`${places.skew}.new`, `${milliseconds}\n`);
      renameSync(`${places.skew}.new`, places.skew);
    },
    fillDisk() {
      spawnSync("/usr/bin/dd", ["if=/dev/zero", `of=${filler}`, "bs=4k"], { stdio: "ignore" });
    },
    emptyDisk: () => rmSync(filler, { force: true }),
    async end() {
      await kill();
      timer.kill("SIGKILL");
      wire.close();
      if (process.getuid?.() === 0) spawnSync("/usr/bin/umount", ["-l", join(base, "disk")]);
    },
  };
}

function must(program: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
}
