/** Checks the host before anything of an installation is written. */

import { findSudoFault } from "../host/execute/sudo-program.ts";
import type { HostMode } from "../protocol/host.ts";
import { UamError } from "../shared/errors.ts";

/** Throws `invalid`, with the remedy, for sudo mode where this host's sudo could not read the rules. */
export function requireModePossible(mode: HostMode): void {
  const fault = mode === "sudo" ? findSudoFault() : undefined;
  if (fault !== undefined) throw new UamError("invalid", `${fault.finding}: ${fault.remedy}`);
}
