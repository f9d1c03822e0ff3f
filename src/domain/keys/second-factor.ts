/** Which keys count where a profile asks for a second factor: security keys, which can ask for touch and PIN at each login. */

import { sql } from "drizzle-orm";
import type { Database, Transaction } from "../../store/client.ts";
import type { KeyRow } from "../../store/schema.ts";

/** A profile that asks a user for a second factor. */
export interface Verifying {
  readonly profile: string;
  /** The host on which it does, as that of a group by which they come there; undefined for their own: on every host. */
  readonly hostId: number | undefined;
}

/** The profiles that ask the user for a second factor: their own, and those of the groups by which they come to a host; their own first. */
export async function verifyingProfiles(db: Database | Transaction, userId: number): Promise<readonly Verifying[]> {
  const rows = await db.execute<{ profile: string; host_id: number | null }>(sql`
    select p.name as profile, null::int as host_id from users u join profiles p on p.name = u.profile
      where u.id = ${userId} and p.second_factor = 'verified'
    union
    select p.name, m.host_id from grants g join host_groups hg on hg.id = g.group_id join profiles p on p.name = hg.profile
      join host_group_members m on m.group_id = hg.id
      where g.user_id = ${userId} and p.second_factor = 'verified'
    order by 2 nulls first, 1`);
  return rows.map(({ profile, host_id }) => ({ profile, hostId: host_id === null ? undefined : Number(host_id) }));
}

/** The one of these that asks on the host. */
export function verifyingOn(asking: readonly Verifying[], host: number): Verifying | undefined {
  return asking.find(({ hostId }) => hostId === undefined || hostId === host);
}

/** Whether keys of this type can ask for touch and PIN. */
export function isSecurityKey({ type }: Pick<KeyRow, "type">): boolean {
  return type.startsWith("sk-");
}

/** Why the key counts for nothing, as a sentence, which says how to make one that does; undefined if it counts. */
export function factorRefusal(asking: Verifying | undefined, key: Pick<KeyRow, "type">): string | undefined {
  if (asking === undefined || isSecurityKey(key)) return undefined;
  return `the profile ${asking.profile} takes only security keys, with touch and PIN at each login; ${HOW_TO_MAKE_ONE}`;
}

/** As part of a sentence. */
export const HOW_TO_MAKE_ONE = "make a key with `ssh-keygen -t ed25519-sk -O verify-required`";
