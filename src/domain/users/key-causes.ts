/** Keys that are stored and open nothing, as causes of "Can they log in now?". */

import type { Account } from "../../protocol/host.ts";
import type { LoginFault } from "../../protocol/logins.ts";
import { type KeyRow, LOCAL_HOST } from "../../store/schema.ts";
import type { UserHost } from "../hosts/user-hosts.ts";
import { factorRefusal, howToMakeOne, type Verifying, verifyingOn } from "../keys/second-factor.ts";
import type { Context } from "../operation/context.ts";
import type { Cause } from "./timed-causes.ts";

/** A user's keys, and what asks them for a second factor. */
export interface KnownKeys {
  readonly account: Account;
  readonly keys: readonly KeyRow[];
  /** Those that are being revoked. */
  readonly revoking: ReadonlySet<number>;
  readonly asking: readonly Verifying[];
}

/** Those in use that the service's own host refuses, or a profile there; they keep the user out if no other is left. */
export async function keyFaults(host: Context["host"], known: KnownKeys): Promise<readonly LoginFault[]> {
  const used = usedKeys(known);
  const asking = verifyingOn(known.asking, LOCAL_HOST);
  const faults = await Promise.all(
    used.map(async (key): Promise<readonly [string, string] | undefined> => {
      const byProfile = factorRefusal(asking, key);
      if (asking !== undefined && byProfile !== undefined)
        return [byProfile, `they ${howToMakeOne(asking)}, and add it`];
      const refusal = await host.keyRefusal(key);
      return refusal === undefined ? undefined : [refusal, "they add a key of another type, such as ssh-ed25519"];
    }),
  );
  const blocks = used.length > 0 && faults.every((fault) => fault !== undefined);
  return used.flatMap(({ name, fingerprint }, index) => {
    const fault = faults[index];
    if (fault === undefined) return [];
    const text = `The key "${name}" (${fingerprint}) opens nothing: ${fault[0]}`;
    return [{ reason: "key_type", text, remedy: fault[1], blocks } as const];
  });
}

/** The cause on a further host none of whose keys the profile there takes; none if one is taken, or there is no key at all. */
export function factorCauses({ host }: UserHost, known: KnownKeys): readonly Cause[] {
  const asking = verifyingOn(known.asking, host.id);
  const used = usedKeys(known);
  if (asking === undefined || used.length === 0) return [];
  if (used.some((key) => factorRefusal(asking, key) === undefined)) return [];
  const what = asking.proof ? "a security key whose make is proven" : "a security key";
  const text = `On ${host.name}: none of their keys is ${what}, and the profile ${asking.profile} takes no other`;
  return [{ reason: "key_type", text, remedy: `they ${howToMakeOne(asking)}, and add it` }];
}

/** Those that a host that asks for no proof would be told of; none of an account that is shut. */
export function usedKeys({ account, keys, revoking }: KnownKeys): readonly KeyRow[] {
  return account.open ? keys.filter(({ id }) => !revoking.has(id)) : [];
}
