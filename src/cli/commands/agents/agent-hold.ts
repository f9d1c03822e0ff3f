/** uam agent hold: root keeps the host open although the service cannot be asked. */

import { randomUUID } from "node:crypto";
import { writeHold } from "../../../agent/holds.ts";
import { enforce, momentOf, writeLease } from "../../../agent/lease.ts";
import { AGENT_DIRECTORY } from "../../../agent/paths.ts";
import { readState } from "../../../agent/store.ts";
import { LEASE_FILES } from "../../../install/lease-files.ts";
import { MAX_TEXT } from "../../../protocol/fleet.ts";
import { UamError } from "../../../shared/errors.ts";
import { requireText } from "../../../shared/text/text.ts";
import { DAY, SECOND, shift, systemClock } from "../../../shared/time/clock.ts";
import { parseDuration } from "../../../shared/time/duration.ts";
import { formatTimestamp } from "../../../shared/time/timestamp.ts";
import { type CliEnvironment, EXIT } from "../../terminal/environment.ts";
import { requireJoined } from "./agent-host.ts";

const LONGEST = 7 * DAY;

/** No record, no change: it is noted for the service before it counts. */
export async function holdHost(
  environment: CliEnvironment,
  { duration, reason }: { readonly duration: string; readonly reason: string },
): Promise<number> {
  requireJoined(environment);
  const length = parseDuration(duration, LONGEST);
  const why = requireText("reason", reason, MAX_TEXT / 2);
  const state = readState(AGENT_DIRECTORY);
  if (state !== undefined && state.status !== "active") {
    throw new UamError(
      "conflict",
      `The service has ${state.status === "locked" ? "locked" : "retired"} this host: only it can open it`,
    );
  }
  const now = systemClock.now();
  const until = formatTimestamp(shift(now, length));
  writeHold(AGENT_DIRECTORY, {
    id: randomUUID(),
    at: formatTimestamp(now),
    until,
    reason: why,
    operator: environment.operator,
  });
  const { boot, wall } = momentOf(systemClock);
  const seconds = length / SECOND;
  const ends = state?.lease_ends ?? "logins";
  writeLease(LEASE_FILES, "hold", { boot: boot + seconds, wall: wall + seconds, ends });
  enforce(LEASE_FILES, () => momentOf(systemClock));
  environment.err(`External accounts can log in here until ${until}. The service will record that.\n`);
  return EXIT.done;
}
