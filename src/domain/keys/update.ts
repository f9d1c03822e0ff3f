/** Changing one of a user's keys: its name, and from where it may be used. */

import { eq } from "drizzle-orm";
import { allowedBy, isWithin, parseNetworks } from "../../shared/net/networks.ts";
import { type KeyRow, sshKeys } from "../../store/schema.ts";
import { activeKeys, networksOf } from "../accounts/account.ts";
import { findUser, type User } from "../accounts/find-user.ts";
import {
  changeNetworks,
  giveAdded,
  narrowAccess,
  narrowingOwed,
  networkDetail,
  requireWithinUser,
  storeKeyNetworks,
  takesAway,
  widenAccess,
} from "../accounts/narrowing.ts";
import { auditedClosing, auditedGrant } from "../operation/audited.ts";
import type { Context, Operation } from "../operation/context.ts";
import { parseKeyName, renameKey, requireKey } from "./keys.ts";
import { lockUserAndKeys } from "./row-lock.ts";

export interface KeyChanges {
  readonly name?: string | undefined;
  /** The networks from which it may be used: CIDRs within the user's; none for all of the user's. */
  readonly sourceNetworks?: readonly string[] | undefined;
}

/** A user's key, and the changes to it. */
interface KeyChange {
  readonly userId: number;
  readonly keyId: number;
  readonly changes: KeyChanges;
}

/** A key after a change, and whether that took anything away. */
export interface ChangedKey {
  readonly key: KeyRow;
  readonly isNarrower: boolean;
}

/**
 * Changes only the supplied fields of an active key. Removing networks takes effect at once and ends sessions from outside;
 * steps that fail on the host are owed, and then this throws `internal`, with the networks stored. Networks that only widen are
 * stored and written, or neither. Throws `invalid` if nothing is supplied, or for networks outside the user's.
 */
export async function updateKey(
  context: Context,
  userId: number,
  keyId: number,
  changes: KeyChanges,
): Promise<ChangedKey> {
  const { name, sourceNetworks } = changes;
  if (sourceNetworks === undefined) return { key: await renameKey(context, userId, keyId, name), isNarrower: false };
  const change = { userId, keyId, changes };
  return await changeNetworks({
    takesAway: async () => {
      const user = await findUser(context.db, userId);
      const key = (await activeKeys(context.db, userId)).find(({ id }) => id === keyId);
      return user !== undefined && key !== undefined && narrows(user, key, sourceNetworks);
    },
    narrow: () => narrowKey(context, change),
    widen: () => widenKey(context, change),
  });
}

/** Undefined if the change no longer takes anything away. */
async function narrowKey(context: Context, change: KeyChange): Promise<ChangedKey | undefined> {
  const narrowed = await auditedClosing(context, entryOf(change), async (op) => {
    const { user, key, name, networks } = await lockAndParse(op, change);
    if (!narrows(user, key, networks)) {
      op.record({ unneeded: true });
      return undefined;
    }
    const adds = !isWithin(networksOf(user, { sourceNetworks: networks }), networksOf(user, key));
    const owed = await narrowAccess(op, { user, key, networks }, "key.update");
    const updated = await store(op, key, { name, networks });
    if (owed.length > 0) op.refuse(narrowingOwed(user, owed));
    return { user, updated, adds };
  });
  if (narrowed?.adds) await giveAdded(context, narrowed.user);
  return narrowed && { key: narrowed.updated, isNarrower: true };
}

/** Undefined if the change meanwhile takes something away. */
async function widenKey(context: Context, change: KeyChange): Promise<ChangedKey | undefined> {
  return await auditedGrant(context, entryOf(change), async (op) => {
    const { user, key, name, networks } = await lockAndParse(op, change);
    if (narrows(user, key, networks)) {
      op.record({ unneeded: true });
      return undefined;
    }
    const updated = await store(op, key, { name, networks });
    if (networks.join() !== key.sourceNetworks.join()) await widenAccess(op, user, { keyId: key.id, networks });
    return { key: updated, isNarrower: false };
  });
}

function entryOf({ userId, keyId }: KeyChange) {
  return { action: "key.update", resourceId: String(keyId), subjectId: userId } as const;
}

/** Whether the change would narrow the networks of the key. */
function narrows(user: User, key: KeyRow, networks: readonly string[]): boolean {
  return takesAway(networksOf(user, key), networks, allowedBy(user.sourceNetworks));
}

async function lockAndParse(op: Operation, { userId, keyId, changes }: KeyChange) {
  const { user, keys } = await lockUserAndKeys(op, userId);
  const key = await requireKey(op, keys, keyId);
  op.about({ detail: { name: key.name, fingerprint: key.fingerprint } });
  const name = changes.name === undefined ? key.name : parseKeyName(changes.name);
  const networks = parseNetworks(changes.sourceNetworks ?? []);
  // The key's stored networks may be wider than its user's, if those were narrowed since.
  if (networks.join() !== key.sourceNetworks.join()) requireWithinUser(user, networks);
  return { user, key, name, networks };
}

async function store(
  op: Operation,
  key: KeyRow,
  { name, networks }: { readonly name: string; readonly networks: readonly string[] },
): Promise<KeyRow> {
  if (name !== key.name) {
    await op.tx.update(sshKeys).set({ name }).where(eq(sshKeys.id, key.id)).prepare("rename_key").execute();
    op.record({ detail: { name, old_name: key.name } });
  }
  op.record({ detail: networkDetail(key.sourceNetworks, networks) });
  return { ...(await storeKeyNetworks(op, key, networks)), name };
}
