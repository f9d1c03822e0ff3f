/** uam agent run: the agent, as its unit starts it. */

import { Buffer } from "node:buffer";
import { runAgent } from "../../../agent/agent.ts";
import { createClient, openSend } from "../../../agent/client.ts";
import { watchClock } from "../../../agent/hours.ts";
import { momentOf } from "../../../agent/lease.ts";
import { createLeaseKeeper, EARLY } from "../../../agent/lease-keeper.ts";
import { accountsOf, hostOpener } from "../../../agent/open-host.ts";
import { openOrders } from "../../../agent/orders.ts";
import { findIdentity, nextEpoch, readKeys } from "../../../agent/store.ts";
import { openTurn } from "../../../agent/turn.ts";
import type { Config } from "../../../config/config.ts";
import { examineHost } from "../../../doctor/agent.ts";
import { LEASE_FILES } from "../../../install/lease-files.ts";
import { hostSettingsOf } from "../../../server/host-settings.ts";
import { systemClock } from "../../../shared/time/clock.ts";
import { type CliEnvironment, commandLog, EXIT, loadConfig, stopSignal } from "../../terminal/environment.ts";
import { openServiceManager } from "../service/service-manager.ts";
import { fullHostName, publishedName } from "./agent-host.ts";

/** Follows the service until the process is told to stop. */
export async function runTheAgent(environment: CliEnvironment): Promise<number> {
  const stopped = stopSignal(environment);
  const config = await loadConfig(environment);
  const directory = config.dataDir;
  const identity = findIdentity(directory);
  const { present: seed } = readKeys(directory);
  if (identity === undefined || seed === undefined) {
    environment.err("uam: This host has joined no service: uam agent join LINE\n");
    return EXIT.configuration;
  }
  const log = await commandLog(environment, config, false);
  const manager = openServiceManager(environment.variables, environment.runtime, log);
  const settings = hostSettingsOf(config);
  const openHost = hostOpener(settings, log, environment.runtime);
  const now = () => momentOf(systemClock);
  const clocks = watchClock(LEASE_FILES.directory, now);
  const client = createClient({
    ...{ service: identity.service, host: identity.host_id, seed, epoch: nextEpoch(directory) },
    fleetKey: Buffer.from(identity.fleet_key, "base64"),
    send: openSend(identity.ca),
  });
  const managed = () => accountsOf(settings.markerGroup);
  const { directory: runDirectory } = LEASE_FILES;
  log.info("following the service", { service: identity.service, host: identity.name, hostMode: config.hostMode });
  try {
    await runAgent(
      {
        ...{ directory, runDirectory, identity, client, mode: config.hostMode, clock: systemClock, log, clocks },
        orders: openOrders({
          directory,
          runDirectory,
          log,
          openHost,
          managed,
          turn: openTurn(directory, environment.runtime.openKernel()),
          times: clocks.times,
          examine: () => faultsOf(config, environment),
        }),
        lease: createLeaseKeeper({ files: LEASE_FILES, now, early: EARLY, log, openHost }),
        ssh: async () => ({
          ...(config.sshHost ?? { host: publishedName(await fullHostName(), identity.name), port: 22 }),
          host_keys: await (await openHost("key")).hostKeys(),
        }),
        random: Math.random,
        announce: (status) => (stopped.aborted ? undefined : manager.ready(status)),
      },
      stopped,
    );
    log.info("stopped");
    return EXIT.done;
  } finally {
    manager.close();
  }
}

/** The host's faults as `uam doctor` finds them, as sentences for the service. */
async function faultsOf(config: Config, { isRoot }: CliEnvironment): Promise<readonly string[]> {
  const findings = await examineHost(config, { isRoot, fix: false });
  return findings.filter(({ state }) => state === "fault").map(({ finding, remedy }) => `${finding}: ${remedy ?? ""}`);
}
