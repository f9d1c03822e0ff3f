/** Whether the host's clock can be trusted, since accounts expire by it, and whether the service answers. */

import { readHeartbeat } from "../domain/lifecycle/heartbeat.ts";
import type { Services } from "../domain/operation/context.ts";
import { findCommand, runCommand } from "../host/command.ts";
import { isSystemdHost } from "../shared/system/systemd.ts";
import { formatTimestamp } from "../shared/time/timestamp.ts";
import { areaOf, type Finding } from "./finding.ts";

const area = areaOf("clock");
const UNREPORTED = "timedatectl does not report whether the clock is synchronised";
const REMEDY =
  "accounts expire by this clock: on Debian, apt-get install systemd-timesyncd sets it; elsewhere run it or chrony";

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
  return [exitCode === 0 ? judgeClock(stdout) : area.skipped(UNREPORTED)];
}

/** The finding, by what timedatectl prints for `NTPSynchronized`. Pure. */
export function judgeClock(said: string): Finding {
  const word = said.trim();
  if (word === "yes") return area.ok("The clock is synchronised");
  if (word === "no") return area.fault("The clock is not synchronised", REMEDY);
  return area.skipped(`${UNREPORTED}: ${JSON.stringify(word.slice(0, 80))} is not understood`);
}

export interface ServiceAddress {
  /** As in `UAM_LISTEN`. */
  readonly address: string;
  /** The reason the service does not answer there; undefined if it answers. */
  ask(): Promise<string | undefined>;
}

/** Whether the service answers, when it last said that it runs, and whether deletions are on hold. */
export async function checkService(
  services: Pick<Services, "db" | "clock">,
  { address, ask }: ServiceAddress,
): Promise<readonly Finding[]> {
  const service = areaOf("service");
  const [problem, { now, last, holdUntil }] = await Promise.all([ask(), readHeartbeat(services)]);
  const lastSign =
    last === undefined
      ? "it has not recorded a heartbeat yet"
      : `its last heartbeat was at ${formatTimestamp(last)}, it is now ${formatTimestamp(now)}`;
  return [
    problem === undefined
      ? service.ok(`The service answers at ${address}`)
      : service.fault(
          `The service does not answer at ${address} (${problem}); ${lastSign}`,
          "systemctl start uam, then read its log: journalctl -u uam",
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
