/** Checks the host before anything of an installation is written. */

import { findSudoFault } from "../host/execute/sudo-program.ts";
import type { HostMode } from "../protocol/host.ts";
import { UamError } from "../shared/errors.ts";

/** Throws `invalid`, with the remedy, for sudo mode where this host's sudo could not read the rules. */
export function requireModePossible(mode: HostMode): void {
  const fault = mode === "sudo" ? findSudoFault() : undefined;
  if (fault !== undefined) throw new UamError("invalid", `${fault.finding}: ${fault.remedy}`);
}

/** How many names a sentence has. */
const MOST = 5;

/**
 * Throws `conflict` for sudo mode where accounts of this host were taken over: what sudo lets the service do stops at its own uids, so that it
 * could neither end what runs under them nor give them back.
 */
export function requireNoAdopted(mode: HostMode, adopted: readonly { readonly name: string }[]): void {
  if (mode !== "sudo" || adopted.length === 0) return;
  const names = adopted.slice(0, MOST).map(({ name }) => name);
  const more = adopted.length > MOST ? ` and ${adopted.length - MOST} more` : "";
  const sentence = `In sudo mode the service could not end what runs under accounts that it has adopted (${names.join(", ")}${more}): give them back or delete their users first, or stay in direct mode`;
  throw new UamError("conflict", sentence);
}
