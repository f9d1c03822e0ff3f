/** Has the service's own host hold the stored profiles. */

import { eq } from "drizzle-orm";
import type { Purpose } from "../../protocol/host.ts";
import type { HostProfile, ProfileState } from "../../protocol/profile.ts";
import { type Transaction, transactionToItsEnd } from "../../store/client.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import { hosts } from "../../store/schema-fleet.ts";
import { noteNarrower } from "../accounts/profile-change.ts";
import { allProfiles } from "../accounts/profiles.ts";
import { lockFleet } from "../hosts/find-host.ts";
import { usersOfProfile } from "../hosts/profile-limits.ts";
import { type Services, systemContext } from "../operation/context.ts";

/** Whether the host holds profiles at all: in sudo mode none that restricts anything is given to an account there. */
function holdsProfiles({ host }: Pick<Services, "host">): boolean {
  return host.mode === "direct" || host.mode === "dry-run";
}

/** Has the host hold these, and returns what it says of each; nothing where it holds none. */
export async function holdThese(
  services: Pick<Services, "host">,
  profiles: readonly HostProfile[],
  purpose: Purpose,
  onLess?: (names: readonly string[]) => Promise<void>,
): Promise<readonly ProfileState[]> {
  return holdsProfiles(services) ? await services.host.holdProfiles(profiles, purpose, onLess) : [];
}

/** Has the host hold what is stored, keeps what it says, and logs what it cannot do: it is tried again each minute. */
export async function holdStored(services: Services): Promise<readonly ProfileState[]> {
  const { db } = services;
  // Under the lock of every change of profiles: one that is under way has the host hold more than is stored.
  const states = await transactionToItsEnd(db, async (tx) => {
    await lockFleet(tx);
    // Somebody may have come in by a wider form that was never stored, because the service ended: what they have open ends, too.
    const onLess = async (names: readonly string[]) => {
      const bound = await Promise.all(names.map((name) => usersOfProfile(tx, name)));
      await noteNarrower({ tx, context: systemContext(services) }, [...new Set(bound.flat().map(({ id }) => id))]);
    };
    const held = await holdThese(services, await allProfiles(tx), "take", onLess);
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
