/** Real SSH clients, run against one account of one sshd, and what they said. */

import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { findCommand } from "../../command.ts";

/** Which sshd, which account, with which key; `directory` is root's alone, for what the clients need. */
export interface Door {
  readonly address: string;
  readonly port: number;
  readonly user: string;
  readonly keyPath: string;
  /** The socket of what signs for it, where the key's private half is in no file. */
  readonly agent?: string | undefined;
  readonly directory: string;
}

export interface Said {
  /** -1 if it was ended by a signal, the time limit included. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The host as clients are told to call it: everything else about it is in their configuration. */
export const ALIAS = "uam-try";
/** Milliseconds after which a client that says nothing more has been let do nothing. */
const PATIENCE = 20_000;

/** The file that every client of that door reads, and no other: nobody's own configuration, agent or list of known hosts counts. */
export function writeClientConfig(door: Door): string {
  const path = `${door.directory}/client.conf`;
  const lines = [
    // By its own name, so that a second hop to the same sshd is told the same.
    `Host ${ALIAS} ${ALIAS}-again`,
    `HostName ${door.address}`,
    `Port ${door.port}`,
    `User ${door.user}`,
    `IdentityFile ${door.keyPath}`,
    `IdentityAgent ${door.agent ?? "none"}`,
    "IdentitiesOnly yes",
    "BatchMode yes",
    "StrictHostKeyChecking no",
    `UserKnownHostsFile ${door.directory}/known_hosts`,
    "GlobalKnownHostsFile none",
    "ControlMaster no",
    "ControlPath none",
    "ConnectTimeout 15",
    // An sshd that has just been told to read its configuration anew does not listen for a moment.
    "ConnectionAttempts 5",
    // First, because it is the cheapest by far: the key exchange is not what is tried.
    "KexAlgorithms ^curve25519-sha256",
  ];
  writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o600 });
  return path;
}

/** Whether this machine has that client. */
export function hasClient(name: string): boolean {
  return findCommand(`/usr/bin/${name}`) !== undefined;
}

/** A client under way. */
export interface Running {
  /** All that it has said so far. */
  readonly said: () => Said;
  /** Waits until its output matches one of them, or it ends; whether one did. */
  readonly until: (...patterns: readonly RegExp[]) => Promise<boolean>;
  /** Its end, by itself or by the time limit. */
  readonly ended: Promise<Said>;
  readonly stop: () => void;
}

export interface Given {
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Its input stays open until it is stopped. */
  readonly stays?: boolean;
}

/** Starts a client: an argv array, no shell, a fixed environment, a session of its own. */
export function startClient(name: string, args: readonly string[], given: Given = {}): Running {
  const path = findCommand(`/usr/bin/${name}`) ?? name;
  const child = spawn(path, args, {
    env: { LC_ALL: "C.UTF-8", PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/nonexistent", ...given.environment },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
    cwd: "/",
  });
  const heard = { stdout: "", stderr: "" };
  const listeners = new Set<() => void>();
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].on("data", (chunk: Buffer) => {
      heard[stream] += chunk.toString("utf8");
      for (const listener of listeners) listener();
    });
  child.stdin.on("error", () => undefined);
  child.stdin.write(given.input ?? "");
  if (given.stays !== true) child.stdin.end();
  const ended = endOf(child, () => heard);
  const said = (): Said => ({ status: child.exitCode ?? -1, ...heard });
  return { said, ended, until: (...patterns) => matched(patterns, said, ended, listeners), stop: () => end(child) };
}

/** Runs a client to its end. */
export function runClient(name: string, args: readonly string[], given: Given = {}): Promise<Said> {
  return startClient(name, args, given).ended;
}

function endOf(child: ChildProcess, heard: () => Omit<Said, "status">): Promise<Said> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(child), PATIENCE);
    const settle = (status: number): void => {
      clearTimeout(timer);
      resolve({ status, ...heard() });
    };
    child.on("error", () => settle(-1));
    child.on("close", (status) => settle(status ?? -1));
    // A process that it left behind may keep its output open.
    child.on("exit", (status) => setTimeout(settle, 500, status ?? -1));
  });
}

async function matched(
  patterns: readonly RegExp[],
  said: () => Said,
  ended: Promise<Said>,
  listeners: Set<() => void>,
): Promise<boolean> {
  const matches = (): boolean => patterns.some((pattern) => pattern.test(`${said().stdout}\n${said().stderr}`));
  let heard = (): void => undefined;
  const seen = new Promise<void>((resolve) => {
    heard = () => {
      if (matches()) resolve();
    };
    listeners.add(heard);
    heard();
  });
  await Promise.race([seen, ended]);
  listeners.delete(heard);
  return matches();
}

/** With what it started: a second ssh for a hop, or for what scp and git speak through. */
function end(child: ChildProcess): void {
  child.kill("SIGKILL");
}
