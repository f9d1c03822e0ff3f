/**
 * Which keys count where a profile asks for a second factor: security keys, which can ask for touch and PIN at each login; and where it asks for
 * proof, those of them whose make was proven when they were uploaded.
 */

import { type SQL, sql } from "drizzle-orm";
import type { Database, Transaction } from "../../store/client.ts";
import { type KeyRow, sshKeys } from "../../store/schema.ts";
import { isProven } from "../accounts/profiles.ts";

/** A profile that asks a user for a second factor. */
export interface Verifying {
  readonly profile: string;
  /** The host on which it does, as that of a group by which they come there; undefined for their own: on every host. */
  readonly hostId: number | undefined;
  /** Whether it takes only keys whose make is proven. */
  readonly proof: boolean;
}

/**
 * The profiles that ask the user for a second factor: their own, and those of the groups by which they come to a host; those that ask for most
 * first, and their own before others.
 */
export async function verifyingProfiles(db: Database | Transaction, userId: number): Promise<readonly Verifying[]> {
  const rows = await db.execute<{ profile: string; host_id: number | null; proof: boolean }>(sql`
    select p.name as profile, null::int as host_id, p.attestation = 'required' as proof from users u join profiles p on p.name = u.profile
      where u.id = ${userId} and p.second_factor = 'verified'
    union
    select p.name, m.host_id, p.attestation = 'required' from grants g join host_groups hg on hg.id = g.group_id join profiles p on p.name = hg.profile
      join host_group_members m on m.group_id = hg.id
      where g.user_id = ${userId} and p.second_factor = 'verified'
    order by 3 desc, 2 nulls first, 1`);
  return rows.map(({ profile, host_id, proof }) => ({
    ...{ profile, proof },
    hostId: host_id === null ? undefined : Number(host_id),
  }));
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
export function factorRefusal(asking: Verifying | undefined, key: Pick<KeyRow, "type" | "model">): string | undefined {
  if (asking === undefined || isProven(key) || (!asking.proof && isSecurityKey(key))) return undefined;
  if (asking.proof) {
    return `the profile ${asking.profile} takes only security keys whose make is proven, with touch and PIN at each login; ${howToMakeOne(asking)}`;
  }
  return `the profile ${asking.profile} takes only security keys, with touch and PIN at each login; ${HOW_TO_MAKE_ONE}`;
}

/** What it means to the users whom the condition names that only proven keys count: a sentence of a preview. */
export async function unprovenSentence(db: Database | Transaction, users: SQL): Promise<string> {
  const unproven = sql`status = 'active' and model is null and user_id in (select id from users where ${users})`;
  const count = await db.$count(sshKeys, unproven);
  return `Keys without proof of their make open nothing by it; ${count === 0 ? "no" : count} such ${count === 1 ? "key is" : "keys are"} stored.`;
}

/** How to make a key that counts, as part of a sentence. */
export function howToMakeOne({ proof }: Pick<Verifying, "proof">): string {
  return proof ? "make a key with the challenge and the command that the service gives for it" : HOW_TO_MAKE_ONE;
}

/** As part of a sentence. */
const HOW_TO_MAKE_ONE = "make a key with `ssh-keygen -t ed25519-sk -O verify-required`";
