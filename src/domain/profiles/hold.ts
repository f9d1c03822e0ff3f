/** Has the service's own host hold the stored profiles. */

import { eq } from "drizzle-orm";
import type { Purpose } from "../../protocol/host.ts";
import type { HostProfile, ProfileState } from "../../protocol/profile.ts";
import { type Transaction, transactionToItsEnd } from "../../store/client.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import { hosts } from "../../store/schema-fleet.ts";
import { allProfiles } from "../accounts/profiles.ts";
import { lockFleet } from "../hosts/find.ts";
import type { Services } from "../operation/context.ts";

/** Whether the host holds profiles at all: in sudo mode none that restricts anything is given to an account there. */
function holdsProfiles({ host }: Pick<Services, "host">): boolean {
  return host.mode === "direct" || host.mode === "dry-run";
}

/** Has the host hold these, and returns what it says of each; nothing where it holds none. */
export async function holdThese(
  services: Pick<Services, "host">,
  profiles: readonly HostProfile[],
  purpose: Purpose,
): Promise<readonly ProfileState[]> {
  return holdsProfiles(services) ? await services.host.holdProfiles(profiles, purpose) : [];
}

/** Has the host hold what is stored, keeps what it says, and logs what it cannot do: it is tried again each minute. */
export async function holdStored(services: Services): Promise<readonly ProfileState[]> {
  const { db } = services;
  // Under the lock of every change of profiles: one that is under way has the host hold more than is stored.
  const states = await transactionToItsEnd(db, async (tx) => {
    await lockFleet(tx);
    const held = await holdThese(services, await allProfiles(tx), "take");
    await keepStates(tx, held);
    return held;
  });
  for (const one of states) {
    if (one.state === "problem") services.log.error("this host does not hold a profile", { ...one });
  }
  return states;
}

/** Stores what the service's own host says of the profiles, where that is something else than before. */
async function keepStates(db: Transaction, states: readonly ProfileState[]): Promise<void> {
  const text = states.length === 0 ? null : JSON.stringify(states);
  const [row] = await db.select({ known: hosts.profiles }).from(hosts).where(eq(hosts.id, LOCAL_HOST));
  if (row !== undefined && row.known !== text)
    await db.update(hosts).set({ profiles: text }).where(eq(hosts.id, LOCAL_HOST));
}
