/** The system accounts, for systemd-sysusers(8). */

import { MARKER_GROUP } from "../host/settings.ts";
import { DATABASE_ACCOUNT, type InstallMode, SERVICE_ACCOUNT, STATE_DIRECTORY } from "./settings.ts";

/** The text of sysusers.d/uam.conf; without a mode, for a package that does not know it yet. */
export function renderSysusers(mode: InstallMode | undefined): string {
  return [
    "# The system accounts of uam, see sysusers.d(5).",
    "# Members of this group are the accounts that uam created; it touches no others.",
    `g ${MARKER_GROUP} -`,
    ...(mode === "direct"
      ? []
      : ["# The service itself, in sudo mode.", `u ${SERVICE_ACCOUNT} - "User Access Management" ${STATE_DIRECTORY}`]),
    ...(mode === "sudo"
      ? []
      : [
          "# The database server of a service that runs as root: it must not run as root, and should not run as anyone else.",
          `u ${DATABASE_ACCOUNT} - "Database of uam" ${STATE_DIRECTORY}`,
        ]),
    "",
  ].join("\n");
}
