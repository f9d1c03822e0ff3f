/** Whether the host's clock can be trusted: expiry is a moment. */

import { existsSync } from "node:fs";
import { findCommand, runCommand } from "../host/command.ts";
import { areaOf, type Finding } from "./finding.ts";

const area = areaOf("clock");
const REMEDY = "run systemd-timesyncd or chrony: accounts expire by this clock";

/** Asks systemd whether the clock is synchronised; `skipped` where there is no systemd to ask. */
export async function checkClock(): Promise<readonly Finding[]> {
  if (!existsSync("/run/systemd/system") || findCommand("/usr/bin/timedatectl") === undefined) {
    return [area.skipped("Nobody here tells whether the clock is synchronised")];
  }
  const { exitCode, stdout } = await runCommand([
    "/usr/bin/timedatectl",
    "show",
    "--property=NTPSynchronized",
    "--value",
  ]);
  if (exitCode !== 0) return [area.skipped("timedatectl does not tell whether the clock is synchronised")];
  if (stdout.trim() !== "yes") return [area.fault("The clock is not synchronised", REMEDY)];
  return [area.ok("The clock is synchronised")];
}
