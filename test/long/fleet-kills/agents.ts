/** The agents: processes on hosts that are files, which go on after each kill with what they had. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readState } from "../../../src/agent/store.ts";
import { joinHost } from "../../support/join-host.ts";
import { placesIn } from "./places.ts";

const PROGRAM = join(import.meta.dir, "agent.ts");

/** What an account on a host is: open, and with which keys. */
export interface Seen {
  readonly uid: number;
  readonly open: boolean;
  readonly file: readonly string[];
  /** Until when sshd takes its keys. */
  readonly expireAt: string;
}

export interface Agent {
  readonly name: string;
  /** The accounts of the host, by name. */
  accounts(): Readonly<Record<string, Seen>>;
  /** The number and the seal of the record that the agent has applied; "" for none. */
  cursor(): string;
  start(): void;
  kill(): Promise<void>;
  /** As after a boot: what is in /run is gone. */
  emptyRun(): void;
}

export interface Agents {
  readonly all: readonly Agent[];
  close(): Promise<void>;
}

/** Joins as many hosts with the lines, and starts their agents, with `program` those of another version. */
export async function startAgents(lines: readonly string[], program = PROGRAM): Promise<Agents> {
  const top = mkdtempSync(join(tmpdir(), "uam-fleet-kills-"));
  const all: Agent[] = [];
  for (const [index, line] of lines.entries()) {
    const name = `host${index + 1}`;
    const base = join(top, name);
    const { directory } = placesIn(base);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    await joinHost({ directory, line, name });
    all.push(agentIn(base, name, program));
  }
  for (const agent of all) agent.start();
  return {
    all,
    async close() {
      await Promise.all(all.map((agent) => agent.kill()));
      rmSync(top, { recursive: true, force: true });
    },
  };
}

function agentIn(base: string, name: string, program: string): Agent {
  const { directory, files, host } = placesIn(base);
  let child: ChildProcess | undefined;
  return {
    name,
    accounts() {
      try {
        return JSON.parse(readFileSync(host, "utf8")) as Record<string, Seen>;
      } catch {
        return {};
      }
    },
    cursor: () => readState(directory)?.cursor ?? "",
    start() {
      const argv = ["--pdeathsig=KILL", process.execPath, program, base];
      child = spawn("/usr/bin/setpriv", argv, { stdio: ["ignore", "ignore", "inherit"] });
    },
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child?.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    },
    emptyRun: () => rmSync(files.directory, { recursive: true, force: true }),
  };
}
