/** Which profiles may be given: those that there are, that the service's own host can hold, and that can be compared with what binds the user already. */

import { eq, sql } from "drizzle-orm";
import type { HostProfile } from "../../protocol/profile.ts";
import { compareProfiles } from "../../protocol/profile-order.ts";
import { UamError } from "../../shared/errors.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { LOCAL_HOST } from "../../store/schema.ts";
import { profiles } from "../../store/schema-companies.ts";
import { selectUsersWhere, type User } from "../accounts/find-user.ts";
import { allProfiles, hostProfileOf } from "../accounts/profiles.ts";
import type { Services } from "../operation/context.ts";

/** The profile, which stays as it is until the transaction ends. Throws `invalid` if there is none of that name. */
export async function requireProfile(tx: Transaction, name: string): Promise<HostProfile> {
  const [row] = await tx.select().from(profiles).where(eq(profiles.name, name)).for("share");
  if (row !== undefined) return hostProfileOf(row);
  throw new UamError("invalid", `There is no profile named ${JSON.stringify(name)}`, { reason: "profile.missing" });
}

/** Whether it takes anything from what an account without a profile may do. */
function isRestricted({ name: _, kind, secondFactor, forwarding, ...limits }: HostProfile): boolean {
  return kind !== "shell" || secondFactor !== "none" || forwarding !== true || Object.keys(limits).length > 0;
}

/** Throws `conflict` for a profile that the service's own host cannot hold in its mode, where it is to bind an account there. */
export function requireHeldHere({ host }: Pick<Services, "host">, bound: readonly HostProfile[] | null): void {
  const first = host.mode === "sudo" ? bound?.find(isRestricted) : undefined;
  if (first === undefined) return;
  const sentence = `The service's own host is in sudo mode and holds no profile that restricts anything, as ${first.name} does; further hosts with an agent do`;
  throw new UamError("conflict", sentence, { reason: "profile.mode" });
}

/**
 * Throws `conflict` if two profiles would bind an account that cannot be compared: of the user, or of anybody. Call it once the change is made,
 * in its transaction.
 */
export async function requireComparable(tx: Transaction, userId?: number): Promise<void> {
  const known = new Map((await allProfiles(tx)).map((profile) => [profile.name, profile]));
  if (known.size < 2) return;
  const only = userId === undefined ? sql`` : sql`and a.user_id = ${userId}`;
  const rows = await tx.execute<{ username: string; one: string; other: string }>(sql`
    select min(u.username) as username, u.profile as one, g.profile as other from grants a join users u on u.id = a.user_id
      join host_groups g on g.id = a.group_id where u.profile <> g.profile ${only} group by 2, 3
    union all
    select min(u.username), g.profile, o.profile from grants a join host_groups g on g.id = a.group_id
      join grants b on b.user_id = a.user_id and b.group_id > a.group_id join host_groups o on o.id = b.group_id
      join users u on u.id = a.user_id
      where g.profile <> o.profile and exists (select 1 from host_group_members m join host_group_members n on n.host_id = m.host_id
        where m.group_id = g.id and n.group_id = o.id) ${only} group by 2, 3`);
  for (const { username, one, other } of rows) {
    if (compareProfiles(known.get(one), known.get(other)) !== "incomparable") continue;
    const sentence = `${username} would have both profiles, ${one} and ${other}, on a host: neither of them allows less than the other`;
    throw new UamError("conflict", sentence, { reason: "profile.incomparable" });
  }
}

/** The users whom the profile binds on the service's own host. */
export async function usersOfProfile(tx: Transaction | Database, name: string): Promise<readonly User[]> {
  const byGroup = sql`select g.user_id from grants g join host_groups hg on hg.id = g.group_id and hg.profile = ${name}
    join host_group_members m on m.group_id = hg.id and m.host_id = ${LOCAL_HOST}`;
  const found = await selectUsersWhere(tx, sql`(users.profile = ${name} or users.id in (${byGroup}))`);
  return found.filter(({ local }) => local);
}
