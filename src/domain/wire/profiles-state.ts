/** What binds an account on a host: its user's profile, and those of the host's groups by which they come there. */

import type { AccountState } from "../../protocol/fleet.ts";
import { narrowestOf } from "../../protocol/profile-order.ts";
import type { AdmittedHost } from "../hosts/host-row.ts";
import type { ToldAccount } from "./accounts-state.ts";

/**
 * Accounts as a host is told of them, given what its row says of profiles. One whose profiles cannot be compared or are not known is shut, and
 * so is any with a profile on a host that holds none: nobody may do more there than what binds them.
 */
export function boundBy(
  known: AdmittedHost["profiles"],
): (account: Omit<ToldAccount, "allowed">, holdsProfiles: boolean) => AccountState {
  const profiles = new Map((known?.all ?? []).map((profile) => [profile.name, profile]));
  return ({ groups = [], unproven = [], ...account }, holdsProfiles) => {
    const ofGroups = (known?.groups ?? []).flatMap(({ id, profile }) => (groups.includes(id) ? [profile] : []));
    const names = [...(account.profile === undefined ? [] : [account.profile]), ...ofGroups];
    if (names.length === 0) return account;
    const binding = names.flatMap((name) => profiles.get(name) ?? []);
    const counts = binding.length < names.length ? "incomparable" : narrowestOf(binding);
    const { profile: _, hours: __, ...plain } = account;
    const isShut = counts === "incomparable" || counts === undefined || !holdsProfiles;
    if (isShut) return { ...plain, open: false, keys: [] };
    const told = { ...account, profile: counts.name };
    if (counts.attestation !== "required") return told;
    // Whatever the agent knows of it: a key that it is not told of opens nothing.
    return { ...told, keys: account.keys.filter(({ id }) => !unproven.includes(id)) };
  };
}
