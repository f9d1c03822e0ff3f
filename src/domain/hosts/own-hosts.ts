/** Where external users have an account, and how they connect there. */

import type { ServerKey } from "../../protocol/host.ts";
import type { Profile } from "../../protocol/profile-order.ts";
import { UamError } from "../../shared/errors.ts";
import { hostAccountOf } from "../../shared/text/account-name.ts";
import type { SshSite } from "../../shared/text/connection.ts";
import type { HostRow } from "../../store/schema-fleet.ts";
import { findUser } from "../accounts/find-user.ts";
import { profileHere, profilesElsewhere } from "../accounts/profiles.ts";
import { knownServerKeys } from "../mail/site.ts";
import type { Context } from "../operation/context.ts";
import { listPlaces, type PlaceState } from "./user-hosts.ts";

export interface OwnHost {
  readonly name: string;
  readonly account: string;
  readonly state: PlaceState;
  /** What they may do there; "incomparable": nothing. */
  readonly profile: Profile | "incomparable";
  /** Undefined if the host has not reported the address of its sshd. */
  readonly site: SshSite | undefined;
  /** None where they are not known. */
  readonly serverKeys: readonly ServerKey[];
}

/** The user's hosts as they are now, without those that only have to remove the account; throws `unauthorized` for a deleted user. */
export async function listOwnHosts(context: Context, userId: number): Promise<readonly OwnHost[]> {
  const { db, policy } = context;
  const user = await findUser(db, userId);
  if (user === undefined) throw new UamError("unauthorized", "The user of this session was deleted");
  const places = (await listPlaces(context, db, user)).filter(({ removing }) => !removing);
  const account = hostAccountOf(user.username);
  const local = places.some(({ host }) => host.kind === "local") ? await knownServerKeys(context) : [];
  // Null where there is no profile at all.
  const elsewhere = user.profiles === null ? () => undefined : await profilesElsewhere(db, userId);
  return places.map(({ host, state }) => {
    const known = { name: host.name, account, state };
    const { host: name, port } = policy.site;
    return host.kind === "local"
      ? { ...known, profile: profileHere(user), site: { host: name, port }, serverKeys: local }
      : { ...known, profile: elsewhere(host.id), site: siteOf(host), serverKeys: serverKeysOf(host) };
  });
}

/**
 * The address of the host's sshd. The agent reports it, and people paste it into a shell: anything but a name or an address
 * counts as missing.
 */
export function siteOf({ sshHost: host, sshPort: port }: Pick<HostRow, "sshHost" | "sshPort">): SshSite | undefined {
  return /^[A-Za-z0-9:][A-Za-z0-9._:%-]{0,252}$/.test(host) ? { host, port } : undefined;
}

/** The host keys that the agent has reported, without malformed ones. */
export function serverKeysOf({ hostKeys }: Pick<HostRow, "hostKeys">): readonly ServerKey[] {
  const told = JSON.parse(hostKeys) as readonly ServerKey[];
  return told.filter(
    ({ type, base64, fingerprint }) =>
      /^[a-z0-9@.-]{1,64}$/.test(type) &&
      /^[A-Za-z0-9+/]{1,2000}={0,2}$/.test(base64) &&
      /^SHA256:[A-Za-z0-9+/]{43}$/.test(fingerprint),
  );
}
