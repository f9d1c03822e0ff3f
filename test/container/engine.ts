/** An image's program, run as an engine runs it, by systemd-nspawn: the image's configuration decides how. */

import { readFileSync } from "node:fs";
import process from "node:process";
import { findLeader } from "../debian/leader.ts";
import { ENCLOSED, must, type Outcome, run } from "../debian/shell.ts";
import type { ImageConfig } from "./buildah.ts";

export interface Image {
  readonly config: ImageConfig;
  /** Of its files. */
  readonly root: string;
}

/** An engine's options besides the image. */
export interface Circumstances {
  /** Directories of this machine by their path in the container; nothing else can be written to. */
  readonly binds: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
}

export interface Running {
  /** Of its first process, as seen from here. */
  readonly pid: number;
  /** Of all its processes. */
  pids(): Promise<readonly number[]>;
  /** Runs another program in it, as its user; throws its output unless it exits with 0. */
  exec(argv: readonly string[], seconds: number): Promise<string>;
  /** Runs a program of this machine with the container's network. */
  beside(argv: readonly string[], seconds: number): Promise<string>;
  /** Sends the image's signal to the first process and waits for the end; returns the exit code and the output. */
  stop(): Promise<Outcome>;
  /** Ends everything in it at once, and returns its output. */
  kill(): Promise<string>;
}

const START_PATIENCE = 30;
const STOP_PATIENCE = 30;

/** Starts the image's command, and returns once it runs. */
export async function start(image: Image, circumstances: Circumstances): Promise<Running> {
  const { Entrypoint, Cmd, StopSignal } = image.config;
  const argv = [...Entrypoint, ...Cmd];
  const child = Bun.spawn([...nspawn(image, circumstances, argv)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const said = Promise.all([child.stdout.text(), child.stderr.text()]);
  const kill = async () => {
    child.kill("SIGKILL");
    return (await said).join("");
  };
  const pid = await findLeader(child, ["systemd-nspawn", argv[0] ?? ""], START_PATIENCE);
  if (pid === undefined) throw new Error(`${argv.join(" ")} did not start: ${await kill()}`);
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const id = (name: string) => new RegExp(`^${name}:\\t(\\d+)`, "m").exec(status)?.[1];
  const namespaces = ["--mount", "--uts", "--ipc", "--net", "--pid", `--setuid=${id("Uid")}`, `--setgid=${id("Gid")}`];
  return {
    pid,
    kill,
    async pids() {
      const found = await must(["pgrep", "--ns", String(pid), "--nslist", "pid", "."], 10);
      return found.trim().split("\n").map(Number);
    },
    exec: (command, seconds) =>
      must(["nsenter", `--target=${pid}`, ...namespaces, ...withEnvironment(image, circumstances, command)], seconds),
    beside: (command, seconds) => must(["nsenter", `--target=${pid}`, "--net", ...command], seconds),
    async stop() {
      process.kill(pid, StopSignal as NodeJS.Signals);
      const isOver = await Promise.race([child.exited.then(() => true), Bun.sleep(STOP_PATIENCE * 1000)]);
      if (isOver !== true) throw new Error(`${StopSignal} did not end it: ${await kill()}`);
      const [stdout, stderr] = await said;
      return { status: child.exitCode ?? -1, stdout, stderr };
    },
  };
}

/** Runs a command instead of the image's own, to its end. */
export function runOnce(image: Image, circumstances: Circumstances, argv: readonly string[]): Promise<Outcome> {
  return run(nspawn(image, circumstances, argv), START_PATIENCE);
}

/** As the first process of a namespace, without capabilities or a way to get any, and with nothing but a loopback device. */
function nspawn(image: Image, circumstances: Circumstances, argv: readonly string[]): readonly string[] {
  return [
    // If nspawn were killed, a program that runs as the image's user would keep running.
    ...ENCLOSED,
    // No writable /tmp either: not every engine gives one to a read-only container.
    ...["env", "SYSTEMD_NSPAWN_TMPFS_TMP=0"],
    ...["systemd-nspawn", "--quiet", "--settings=no", "--register=no", "--keep-unit", "--link-journal=no"],
    ...["--machine=uam-test-image", "--resolv-conf=off", "--timezone=off", "--console=pipe", "--private-network"],
    ...["--read-only", "--drop-capability=all", "--no-new-privileges=yes", `--user=${uidOf(image)}`],
    ...Object.entries(circumstances.binds).map(([inside, outside]) => `--bind=${outside}:${inside}`),
    ...[`--directory=${image.root}`, "--", ...withEnvironment(image, circumstances, argv)],
  ];
}

/** The environment of the image, without nspawn's own variables. */
function withEnvironment({ config }: Image, { variables }: Circumstances, argv: readonly string[]): readonly string[] {
  const more = Object.entries(variables ?? {}).map(([name, value]) => `${name}=${value}`);
  return ["/usr/bin/env", "-i", ...config.Env, ...more, ...argv];
}

/** nspawn takes no group beside it: it has the user's own, which is the image's, too. */
function uidOf({ config: { User } }: Image): string {
  return User.split(":")[0] ?? "";
}
