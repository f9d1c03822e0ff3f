/** An agent in a process of its own, that a test can stop and kill: on directories of the test, and with clocks that it sets. */

import { readFileSync } from "node:fs";
import { type LeaseFiles, momentOf } from "../../src/agent/lease.ts";
import { accountsOf, hostOpener } from "../../src/agent/open-host.ts";
import type { HostSettings } from "../../src/host/settings.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { systemClock } from "../../src/shared/time/clock.ts";
import { errorLog, runTestAgent, untilTerminated } from "./run-test-agent.ts";

export interface DriverSettings {
  readonly directory: string;
  readonly files: LeaseFiles;
  readonly host: HostSettings;
  /** A file with the seconds that the wall clock is off by. */
  readonly skew: string;
  readonly timing: Record<string, number>;
}

const { directory, files, host, skew, timing } = JSON.parse(process.argv[2] ?? "{}") as DriverSettings;
const log = errorLog({ warnings: true });
await runTestAgent(
  {
    ...{ directory, files, timing, log, mode: host.mode, sshHost: "test", random: () => 0.05 },
    openHost: hostOpener(host, log, bunRuntime),
    managed: () => accountsOf(host.markerGroup),
    now: () => {
      const moment = momentOf(systemClock);
      return { ...moment, wall: moment.wall + Number(readFileSync(skew, "utf8")) };
    },
  },
  untilTerminated(),
);
