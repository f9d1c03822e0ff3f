/** Whether the host's clock can be trusted, since accounts expire by it, and whether the service is running. */

import { readHeartbeat } from "../domain/lifecycle/heartbeat.ts";
import type { Services } from "../domain/operation/context.ts";
import { findCommand, runCommand } from "../host/execute/command.ts";
import { MINUTE } from "../shared/clock.ts";
import { isSystemdHost } from "../shared/systemd.ts";
import { formatTimestamp } from "../shared/timestamp.ts";
import { areaOf, type Finding } from "./finding.ts";

const area = areaOf("clock");
const REMEDY = "run systemd-timesyncd or chrony: accounts expire by this clock";

/** Asks systemd whether the clock is synchronised; `skipped` where there is no systemd to ask. */
export async function checkClock(): Promise<readonly Finding[]> {
  if (!isSystemdHost() || findCommand("/usr/bin/timedatectl") === undefined) {
    return [area.skipped("Cannot check whether the clock is synchronised: this host has no timedatectl")];
  }
  const { exitCode, stdout } = await runCommand([
    "/usr/bin/timedatectl",
    "show",
    "--property=NTPSynchronized",
    "--value",
  ]);
  if (exitCode !== 0) return [area.skipped("timedatectl does not report whether the clock is synchronised")];
  if (stdout.trim() !== "yes") return [area.fault("The clock is not synchronised", REMEDY)];
  return [area.ok("The clock is synchronised")];
}

/** The heartbeat comes every minute; a long job may delay one. */
const LONGEST_SILENCE = 5 * MINUTE;

/** Whether the service's heartbeat is recent, and whether deletions are on hold. */
export async function checkHeartbeat(services: Pick<Services, "db" | "clock">): Promise<readonly Finding[]> {
  const service = areaOf("service");
  const { now, last, holdUntil } = await readHeartbeat(services);
  if (last === undefined)
    return [service.skipped("The service has not recorded a heartbeat yet; it does so every minute")];
  const isAlive = Math.abs(now.getTime() - last.getTime()) <= LONGEST_SILENCE;
  return [
    isAlive
      ? service.ok("The service is running")
      : service.fault(
          `The service's last heartbeat was at ${formatTimestamp(last)}; it is now ${formatTimestamp(now)}`,
          "systemctl start uam, then read its log",
        ),
    ...(holdUntil === undefined
      ? []
      : [
          service.ok(
            `Nothing is recycled or purged until ${formatTimestamp(holdUntil)}: the service was stopped, or the clock was set. If the clock is right, uam recycle --now ends the wait`,
          ),
        ]),
  ];
}
