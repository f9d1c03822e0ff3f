/** An agent in a process of its own, that a test can stop and kill: on directories of the test, and with clocks that it sets. */

import { readFileSync } from "node:fs";
import { runAgent } from "../../src/agent/agent.ts";
import { createClient } from "../../src/agent/client.ts";
import type { LeaseFiles } from "../../src/agent/lease.ts";
import { momentOf } from "../../src/agent/lease.ts";
import { createLeaseKeeper } from "../../src/agent/lease-keeper.ts";
import { accountsOf, hostOpener } from "../../src/agent/open-host.ts";
import { openOrders } from "../../src/agent/orders.ts";
import { findIdentity, nextEpoch, readKeys } from "../../src/agent/store.ts";
import { openTurn } from "../../src/agent/turn.ts";
import type { HostSettings } from "../../src/host/settings.ts";
import { bunRuntime } from "../../src/runtime/bun.ts";
import { systemClock } from "../../src/shared/clock.ts";
import { silentLog } from "../../src/shared/log.ts";

export interface DriverSettings {
  readonly directory: string;
  readonly files: LeaseFiles;
  readonly host: HostSettings;
  /** A file with the seconds that the wall clock is off by. */
  readonly skew: string;
  readonly timing: Record<string, number>;
}

const { directory, files, host, skew, timing } = JSON.parse(process.argv[2] ?? "{}") as DriverSettings;
const identity = findIdentity(directory);
const { present: seed } = readKeys(directory);
if (identity === undefined || seed === undefined) throw new Error("not joined");
const log = { ...silentLog, warn: say, error: say };
const openHost = hostOpener(host, log, bunRuntime);
const now = () => {
  const moment = momentOf(systemClock);
  return { ...moment, wall: moment.wall + Number(readFileSync(skew, "utf8")) };
};
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
await runAgent(
  {
    ...{ directory, runDirectory: files.directory, identity, mode: host.mode, clock: systemClock, log, timing },
    client: createClient({
      ...{ service: identity.service, host: identity.host_id, seed, epoch: nextEpoch(directory) },
      fleetKey: Buffer.from(identity.fleet_key, "base64"),
      send: (url, init) => fetch(url, init),
    }),
    orders: openOrders({
      ...{ directory, runDirectory: files.directory, log, openHost },
      managed: () => accountsOf(host.markerGroup),
      turn: openTurn(directory, bunRuntime.openKernel()),
    }),
    lease: createLeaseKeeper({ files, now, early: 0, log, openHost }),
    ssh: async () => ({ host: "test", port: 22, host_keys: [] }),
    random: () => 0.05,
    announce: () => {},
  },
  stop.signal,
);

function say(message: string, fields: unknown = {}): void {
  console.error(message, JSON.stringify(fields));
}
