/**
 * Changes the networks from which a user's keys may be used. Removing networks only goes forward, as any closing does: it is
 * noted first, and steps that fail on the host are owed. Only adding networks is a grant.
 */

import { eq } from "drizzle-orm";
import type { Account } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import {
  allowedBy,
  commonNetworks,
  isWithin,
  type Networks,
  outsideOf,
  parseNetworks,
} from "../../shared/net/networks.ts";
import type { AuditAction } from "../../shared/product/audit-actions.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { type KeyRow, sshKeys } from "../../store/schema.ts";
import type { ClosingOperation, Context, Grant, Operation } from "../operation/context.ts";
import type { AuditDetail } from "../operation/entry.ts";
import { restoreAccess, storeUser } from "./access.ts";
import { accountOf, activeKeys } from "./account.ts";
import { type Closing, noteClosing, oweClosing, settleClosing, widenNarrowing } from "./closings.ts";
import type { User } from "./find-user.ts";
import { hostOf } from "./own-host.ts";
import { takePartOnHost } from "./part-on-host.ts";
import { noteFleetChange } from "./remote-changes.ts";

/** How often the stored networks may change in between before this gives up. */
const ATTEMPTS = 5;

/**
 * A change of networks: its result, and the operation for each direction. An operation returns undefined if the change goes
 * in the other direction meanwhile.
 */
export interface NetworkChange<T> {
  readonly takesAway: () => Promise<boolean>;
  readonly narrow: () => Promise<T | undefined>;
  readonly widen: () => Promise<T | undefined>;
}

/**
 * Runs the operation in the direction that fits the stored networks; until it has the lock, the direction may change.
 */
export async function changeNetworks<T>({ takesAway, narrow, widen }: NetworkChange<T>): Promise<T> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const done = await ((await takesAway()) ? narrow() : widen());
    if (done !== undefined) return done;
  }
  throw new UamError("conflict", "Somebody else is changing the same networks; try again");
}

/** Whether networks, within others, allow less than before. An unreadable list takes nothing away: the operation refuses it. */
export function takesAway(before: Networks, after: readonly string[], within?: Networks): boolean {
  try {
    return !isWithin(before, commonNetworks(allowedBy(parseNetworks(after)), within));
  } catch (error) {
    if (error instanceof UamError) return false;
    throw error;
  }
}

/** Throws `invalid` if a key's networks are not within its user's. */
export function requireWithinUser({ username, sourceNetworks }: User, networks: readonly string[]): void {
  const [wider] = networks.length === 0 ? [] : outsideOf(networks, allowedBy(sourceNetworks));
  if (wider === undefined) return;
  const allowed = sourceNetworks.join(", ");
  throw new UamError("invalid", `${wider} is not within the networks from where ${username} may log in: ${allowed}`, {
    reason: "network.wider",
  });
}

/** The target of a narrowing: all keys of a user, or one. */
interface Narrowing {
  /** As stored before. */
  readonly user: User;
  readonly key: KeyRow | undefined;
  readonly networks: readonly string[];
}

/**
 * Takes away access from outside the networks, and does nothing else: added networks are not given yet. Returns the
 * remaining work, which is owed. The caller stores the networks. `by` is the action to record in case the process dies
 * before that, or the note of an earlier attempt.
 */
export async function narrowAccess(
  op: ClosingOperation,
  { user, key, networks }: Narrowing,
  by: AuditAction | Closing,
): Promise<readonly string[]> {
  const about = { userId: user.id, kind: "narrow", keyId: key?.id ?? 0, networks } as const;
  // Read the account before reporting that the closing began: from there on, the host part finishes even if the
  // database fails.
  const account = await accountOf(op.tx, user, op.context.clock.now(), [about]);
  const note = typeof by === "string" ? await noteClosing(op.context, { ...about, action: by }) : by.id;
  op.begun(unfinished(user, []));
  const owed = await narrowOnHost(op, user, account);
  op.begun(unfinished(user, owed));
  faultPoint("closing: host done, not stored");
  await noteFleetChange(op, user);
  if (owed.length === 0) await settleClosing(op.tx, note);
  else await oweClosing(op, note, { user, owed, recorded: true });
  return owed;
}

/** The message to the caller if the database fails meanwhile. */
function unfinished({ username }: User, owed: readonly string[]): string {
  const now = owed.length > 0 ? " The host may still let them in from outside until this is done." : "";
  return `From where ${username} may log in is being narrowed, but the database failed before this could be recorded.${now} It will not be widened again: the change is finished and recorded once the database is available.`;
}

/** The message for the caller when the networks are stored, but the host could not do all of it. */
export function narrowingOwed({ username }: User, owed: readonly string[]): string {
  return `The networks of ${username} are stored, but the host may still let them in from outside until this is done. Left to do, and tried again until it is done: ${owed.join(". ")}`;
}

/** Stores the networks of a key. */
export async function storeKeyNetworks(op: Operation, key: KeyRow, networks: readonly string[]): Promise<KeyRow> {
  const sourceNetworks = [...networks];
  await op.tx.update(sshKeys).set({ sourceNetworks }).where(eq(sshKeys.id, key.id));
  return { ...key, sourceNetworks };
}

/** The detail in the audit log for a change of networks; "" stands for no restriction. */
export function networkDetail(before: readonly string[], after: readonly string[]): AuditDetail {
  return { source_networks: after.join(", "), old_source_networks: before.join(", ") };
}

/**
 * Gives access from more networks, which are already stored: both or neither. A narrowing in progress is widened to these
 * networks.
 */
export async function widenAccess(
  op: Grant,
  user: User,
  { keyId, networks }: { readonly keyId: number; readonly networks: readonly string[] },
): Promise<void> {
  await widenNarrowing(op.tx, { userId: user.id, keyId }, networks);
  const account = await accountOf(op.tx, user, op.context.clock.now());
  if (!account.open || account.keys.length === 0) return;
  await op.onRollback(() => restoreAccess(op.context, user));
  faultPoint("networks: wider in the database, not in the file");
  await hostOf(op.context, user).writeKeys(account);
}

/**
 * Gives the added networks after a change that removed one network and added another is committed. If that fails,
 * reconciling does it within a minute; until then the user can do less than is stored, never more.
 */
export async function giveAdded(context: Context, user: User): Promise<void> {
  try {
    faultPoint("networks: narrowed, what was added not given");
    await restoreAccess(context, user);
  } catch (error) {
    context.log.warn("networks that were added are not on the host yet; reconciling writes them", {
      error,
      userId: user.id,
      requestId: context.requestId,
    });
  }
}

/** Continues a narrowing that was interrupted or is still owed; returns the remaining work. */
export async function finishNarrowing(op: ClosingOperation, user: User, noted: Closing): Promise<readonly string[]> {
  const { networks, keyId } = noted;
  const key = keyId === 0 ? undefined : (await activeKeys(op.tx, user.id)).find(({ id }) => id === keyId);
  if (keyId !== 0 && key === undefined) {
    await settleClosing(op.tx, noted.id);
    op.record({ unneeded: true });
    return [];
  }
  const owed = await narrowAccess(op, { user, key, networks }, noted);
  if (noted.action === "") {
    op.record({ detail: { found: noted.problem, done: "what was left of narrowing the networks" } });
    if (owed.length > 0) op.record({ unneeded: true });
    return owed;
  }
  if (key === undefined) {
    await storeUser(op, user, { sourceNetworks: networks });
  } else await storeKeyNetworks(op, key, networks);
  op.record({ detail: networkDetail((key ?? user).sourceNetworks, networks) });
  if (owed.length > 0) op.refuse(narrowingOwed(user, owed));
  return [];
}

/** Without keys there is nothing to narrow. */
async function narrowOnHost(op: ClosingOperation, user: User, account: Account): Promise<readonly string[]> {
  if (account.keys.length === 0) return [];
  return await takePartOnHost(op, user, account, {
    take: (host, narrowed) => host.narrowKeys(narrowed),
    failure: "networks could not be narrowed on the host; this will be retried",
  });
}
