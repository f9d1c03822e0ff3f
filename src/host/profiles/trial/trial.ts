/** Everything that clients do, tried against one account of a profile. */

import type { HostProfile } from "../../../protocol/profile.ts";
import { severalAtOnce } from "../../../shared/work/several.ts";
import { type Door, writeClientConfig } from "./client.ts";
import type { Deed, Seen } from "./deed.ts";
import { FILES } from "./files.ts";
import { FORWARDS } from "./forwards.ts";
import { SESSIONS } from "./sessions.ts";

export const DEEDS: readonly Deed[] = [...SESSIONS, ...FORWARDS, ...FILES];

/** Most of it is waiting; and fewer than the connections from which on an sshd refuses some (MaxStartups). */
const AT_ONCE = 4;

export interface Tried {
  readonly name: string;
  /** Whether the profile allows it; undefined where that is not its affair. */
  readonly may: boolean | undefined;
  readonly seen: Seen;
}

/** Whether sshd did what the profile says; undefined where that was not tried, or is not the profile's affair. */
export function isAsSaid({ may, seen }: Tried): boolean | undefined {
  if (may === undefined || typeof seen === "object") return undefined;
  return may === (seen === "happened");
}

/** Tries all of them, with real clients; `home` is the account's. */
export async function tryProfile(
  door: Door,
  profile: HostProfile,
  account: { readonly uid: number; readonly home: string },
  deeds: readonly Deed[] = DEEDS,
): Promise<readonly Tried[]> {
  const config = writeClientConfig(door);
  const isConfined = profile.kind === "sftp";
  const place = isConfined ? `/${door.user}/` : "";
  const placeHere = isConfined ? `${profile.directory}/${door.user}` : account.home;
  const trial = { door, config, profile, uid: account.uid, place, placeHere };
  const seen = new Map<Deed, Seen>();
  await severalAtOnce(deeds, { atOnce: AT_ONCE }, async (deed) => {
    seen.set(deed, await deed.tries(trial));
  });
  return deeds.map((deed) => ({
    name: deed.name,
    may: deed.may(profile),
    seen: seen.get(deed) ?? { untried: "it was not begun" },
  }));
}
