/** An agent in this process, on a host in memory and a stub of the service. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Send } from "../../src/agent/client.ts";
import { isLinked, type LeaseFiles, type Moment } from "../../src/agent/lease.ts";
import { createFakeHost, type FakeHost } from "../support/fake-host.ts";
import { type FleetStub, startFleetStub } from "../support/fleet-stub.ts";
import { recordingLog } from "../support/host-account.ts";
import { joinHost } from "../support/join-host.ts";
import { runTestAgent } from "../support/run-test-agent.ts";
import { until } from "../support/until.ts";

export interface AgentLab {
  readonly stub: FleetStub;
  readonly host: FakeHost;
  readonly directory: string;
  readonly files: LeaseFiles;
  readonly log: ReturnType<typeof recordingLog>;
  /** Seconds that each clock is off by. */
  readonly skew: { boot: number; wall: number };
  /** How requests are sent; tests put something in between. */
  send: Send;
  /** Whether the host cannot be worked on at all. */
  openHostFails: boolean;
  join(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
  /** Returns once the agent has compared the host so many times more. */
  compared(times: number): Promise<void>;
  /** Stops all and removes the directory. */
  close(): Promise<void>;
  isOpen(): boolean;
}

export async function openAgentLab(joined = true): Promise<AgentLab> {
  const base = mkdtempSync(join(tmpdir(), "uam-agent-"));
  const directory = join(base, "lib");
  const files = { directory: join(base, "run"), target: join(base, "uam-revoked-keys") };
  const log = recordingLog();
  const skew = { boot: 0, wall: 0 };
  let running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  const now = (): Moment => ({
    boot: performance.now() / 1000 + 1000 + skew.boot,
    wall: Date.now() / 1000 + skew.wall,
  });
  const host = createFakeHost(0);
  const { orphanUids } = host;
  let comparisons = 0;
  // What a comparison asks for last.
  host.orphanUids = async () => {
    comparisons++;
    return await orphanUids();
  };
  const lab: AgentLab = {
    stub: startFleetStub(),
    host,
    directory,
    files,
    log,
    skew,
    send: (url, init) => fetch(url, init),
    openHostFails: false,
    join: async () => {
      const { stub, send } = lab;
      await joinHost({ directory, line: stub.line, name: "web1", sshHost: "web1.example.org", send });
    },
    start: () => {
      const stop = new AbortController();
      const done = runTestAgent(
        {
          ...{ directory, files, mode: "direct", now, log: log.log, sshHost: "web1.example.org", random: () => 0.02 },
          openHost: async () => {
            if (lab.openHostFails) throw new Error("the host cannot be worked on");
            return lab.host;
          },
          managed: () => [...lab.host.accounts.keys()],
          send: (url, init) => lab.send(url, init),
          timing: { wait: 3000, patience: 2000, reconcile: 400, retry: 200 },
        },
        stop.signal,
      );
      running = { stop, done };
    },
    stop: async () => {
      running?.stop.abort();
      await running?.done;
      running = undefined;
    },
    compared: async (times) => {
      const enough = comparisons + times;
      await until(() => comparisons >= enough);
    },
    close: async () => {
      await lab.stop();
      await lab.stub.stop();
      rmSync(base, { recursive: true, force: true });
    },
    isOpen: () => isLinked(files),
  };
  if (joined) await lab.join();
  return lab;
}
