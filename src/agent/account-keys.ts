/** Keys of an account, as the service tells them, compared with those that it told before. */

import type { HostKey } from "../protocol/host.ts";
import { commonNetworks, isCanonicalNetwork, type Networks } from "../shared/net/networks.ts";

/** By fingerprint. */
export function keysOf({ keys }: { readonly keys: readonly HostKey[] }): ReadonlyMap<string, HostKey> {
  return new Map(keys.map((key) => [key.fingerprint, key]));
}

/** Whether a key that stays has other networks than before. */
export function hasOtherNetworks(before: readonly HostKey[], kept: ReadonlyMap<string, HostKey>): boolean {
  return before.some((key) => {
    const now = kept.get(key.fingerprint);
    return now !== undefined && networksOf(now) !== networksOf(key);
  });
}

/** Whether both lists are the same keys, from the same networks. */
export function sameKeys(ones: readonly HostKey[], others: readonly HostKey[]): boolean {
  return (
    ones.length === others.length &&
    ones.every((key, index) => {
      const against = others[index];
      return (
        against !== undefined &&
        key.id === against.id &&
        key.base64 === against.base64 &&
        key.type === against.type &&
        networksOf(key) === networksOf(against)
      );
    })
  );
}

/** The key, from the addresses that are in the networks of both. */
export function narrower(one: HostKey, other: HostKey): HostKey {
  const networks = commonNetworks(readable(one), readable(other));
  return networks === undefined ? one : { ...one, networks };
}

/** A network that is not in canonical form allows nothing: none gets into a key file. */
function readable({ networks }: HostKey): Networks {
  return networks?.filter(isCanonicalNetwork);
}

function networksOf({ networks }: HostKey): string {
  return networks === undefined ? "any" : networks.join(" ");
}
