/** A real sshd on a port of its own, and clients for it. Needs root, as sshd does to change to another account. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HostKey } from "../../src/protocol/host.ts";
import { SHORT_HANG } from "./hang.ts";
import { freePort } from "./port.ts";

/** For a client: an sshd that reads its configuration anew does not listen for a moment. */
export const PATIENT = ["-o", "ConnectionAttempts=20"] as const;

export interface TestSshd {
  readonly config: string;
  readonly port: number;
  /** Makes a key pair; `path` is the private key's. */
  readonly makeKey: (id: number) => { readonly path: string; readonly key: HostKey };
  /** Runs a command on a new connection, from that address of this machine's; true if it was let in. */
  readonly login: (user: string, keyPath: string, from?: string) => boolean;
  /** The same without keeping anything else from going on; true as soon as sshd let it in, whatever becomes of the command. */
  readonly admits: (user: string, keyPath: string) => Promise<boolean>;
  /** What a command prints on a new connection. */
  readonly run: (user: string, keyPath: string, command: string) => string;
  /** Opens a connection that stays: a session running `command`. */
  readonly open: (user: string, keyPath: string, command: string, from?: string) => ChildProcess;
  readonly stop: () => void;
}

export async function startSshd(directory: string, extra: readonly string[] = []): Promise<TestSshd> {
  const port = await freePort();
  const config = join(directory, "sshd_config");
  const hostKey = join(directory, "host_key");
  mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  run("/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", hostKey]);
  // The first value of an option counts.
  const lines = [
    ...extra,
    ...[`Port ${port}`, "ListenAddress 127.0.0.1", `HostKey ${hostKey}`, "PidFile none", "StrictModes yes"],
    ...["UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "MaxStartups 100:30:200"],
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  // Since 9.8 it refuses everybody behind an address with many refusals: that would prove nothing about an account.
  const lenient = "PerSourcePenalties no";
  const knows = spawnSync("/usr/sbin/sshd", ["-t", "-f", config, "-o", lenient], { stdio: "ignore" }).status === 0;
  if (knows) appendFileSync(config, `${lenient}\n`);
  const server = spawn("/usr/sbin/sshd", ["-D", "-f", config, "-E", join(directory, "sshd.log")], { stdio: "ignore" });
  const options = (user: string, keyPath: string) => [
    ...["-F", "none", "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no"],
    ...["-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=60"],
    ...PATIENT,
    ...["-i", keyPath, "-p", String(port), `${user}@127.0.0.1`],
  ];
  await answering(port);
  return {
    config,
    port,
    makeKey: (id) => makeKey(directory, id),
    login: (user, keyPath, from = "127.0.0.1") =>
      spawnSync("/usr/bin/ssh", ["-b", from, ...options(user, keyPath), "true"], { timeout: SHORT_HANG }).status === 0,
    admits: (user, keyPath) => admits(["/usr/bin/ssh", "-v", ...verbose(options(user, keyPath)), "true"]),
    run: (user, keyPath, command) => run("/usr/bin/ssh", [...options(user, keyPath), command]),
    open: (user, keyPath, command, from = "127.0.0.1") =>
      spawn("/usr/bin/ssh", ["-b", from, ...options(user, keyPath), command], { stdio: "ignore" }),
    stop: () => {
      server.kill("SIGTERM");
    },
  };
}

function verbose(options: readonly string[]): readonly string[] {
  return options.map((option) => (option === "LogLevel=ERROR" ? "LogLevel=DEBUG" : option));
}

/** By the client's own word that sshd took the key; the command may be kept from running by the account's owner. */
async function admits(argv: readonly string[]): Promise<boolean> {
  const client = Bun.spawn([...argv], { stdio: ["ignore", "ignore", "pipe"] });
  const timer = setTimeout(() => client.kill("SIGKILL"), SHORT_HANG);
  try {
    return (await new Response(client.stderr).text()).includes("Authenticated to ");
  } finally {
    clearTimeout(timer);
  }
}

function makeKey(directory: string, id: number): { readonly path: string; readonly key: HostKey } {
  const path = join(directory, `key${id}`);
  run("/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", path]);
  const [type = "", base64 = ""] = readFileSync(`${path}.pub`, "utf8").split(" ");
  const fingerprint = run("/usr/bin/ssh-keygen", ["-l", "-f", `${path}.pub`]).split(" ")[1] ?? "";
  return { path, key: { id, type, base64, fingerprint } };
}

function run(command: string, args: readonly string[]): string {
  const result = spawnSync(command, args, { encoding: "utf8" });
  if (result.status !== 0) throw new Error(`${command} ${args.join(" ")}: ${result.stderr}`);
  return result.stdout;
}

/** Waits until sshd sends its banner, for as long as only a hang takes. */
async function answering(port: number): Promise<void> {
  for (let attempt = 0; attempt < 1200; attempt++) {
    const probe = spawnSync("/usr/bin/ssh-keyscan", ["-T", "1", "-p", String(port), "127.0.0.1"], { encoding: "utf8" });
    if (probe.stdout.includes("ssh-ed25519")) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`sshd does not answer on port ${port}`);
}
