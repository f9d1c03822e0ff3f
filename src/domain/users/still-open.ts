/** Further hosts that may still let a user in although access was taken away: they have not confirmed it, and their lease goes on. */

import { isForever } from "../../shared/time/lease.ts";
import { formatTimestamp } from "../../shared/time/timestamp.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import { isExpired, type User } from "../accounts/find-user.ts";
import type { UserHost } from "../hosts/user-hosts.ts";
import type { Cause } from "./timed-causes.ts";

/** `isShut`: the user is to get in nowhere. Otherwise only hosts count that the user has lost. After the end of access sshd itself refuses. */
export function stillOpen(user: User, places: readonly UserHost[], isShut: boolean, now: Date): readonly Cause[] {
  if (isExpired(user, now)) return [];
  return places.flatMap(({ host, state, removing }) => {
    const { id, name, leaseUntil } = host;
    if (id === LOCAL_HOST || state === "applied" || !(isShut || removing)) return [];
    // One that never had a lease has never opened anything.
    if (leaseUntil === null || leaseUntil <= now) return [];
    const until = isForever(leaseUntil)
      ? "until it answers: it has no lease"
      : `until ${formatTimestamp(leaseUntil)} at the latest`;
    const text = `${name} has not confirmed that access was taken away, and may let them in ${until}`;
    const remedy = `uam host show ${name} says when it was last seen; there, uam lock ${user.username} shuts the account at once`;
    return [{ reason: "host_open", text, remedy }];
  });
}
