/** Whether systemd runs this host. */

import { existsSync } from "node:fs";

/** True where systemd is the init system, by the test of sd_booted(3). */
export function isSystemdHost(): boolean {
  return existsSync("/run/systemd/system");
}
