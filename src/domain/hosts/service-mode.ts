/** How the service that last ran here changes its own host; its commands must not do less. */

import { and, eq, ne } from "drizzle-orm";
import { isDatabaseFull } from "../../shared/database-lost.ts";
import { UamError } from "../../shared/errors.ts";
import { hosts } from "../../store/schema-fleet.ts";
import type { Services } from "../operation/context.ts";

/** Stores the mode of the running service; a service without a host of its own leaves another's stored mode alone. */
export async function noteServiceMode({ autocommit, host, log }: Services): Promise<void> {
  const { mode } = host;
  if (mode === "none") return;
  const other = and(eq(hosts.kind, "local"), ne(hosts.mode, mode));
  try {
    await autocommit.update(hosts).set({ mode }).where(other);
  } catch (error) {
    // A full disk must not stop the service.
    if (!isDatabaseFull(error)) throw error;
    log.error("the mode of this service cannot be stored, because the disk of the database is full");
  }
}

/**
 * Throws `conflict` for a command that would only plan changes that the service makes: it would store a user as disabled, and leave
 * their account open until the service next compares the two.
 */
export async function requireServiceMode(services: Services): Promise<void> {
  const mode = await plannedInsteadOf(services);
  if (mode === undefined) return;
  throw new UamError(
    "conflict",
    `The service here changes the host (UAM_HOST_MODE=${mode}), and this command would not: give it the same UAM_ variables. To stop changing the host, start the service with UAM_HOST_MODE=dry-run first`,
  );
}

/** The mode in which the service changes the host, where this process would only plan that; undefined if both do the same. */
export async function plannedInsteadOf({ autocommit, host }: Services): Promise<string | undefined> {
  if (host.mode !== "dry-run") return undefined;
  const [local] = await autocommit.select({ mode: hosts.mode }).from(hosts).where(eq(hosts.kind, "local"));
  return local === undefined || local.mode === "" || local.mode === host.mode ? undefined : local.mode;
}
