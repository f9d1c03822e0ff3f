/** A user's SSH keys: upload, rename, revoke, list, and the authorized-keys file that follows from them. */

import { eq, sql } from "drizzle-orm";
import type { Account, JobsGone, KeyTaken } from "../../protocol/host.ts";
import { publicMessage, UamError } from "../../shared/errors.ts";
import { parseNetworks } from "../../shared/net/networks.ts";
import { requireText } from "../../shared/text/text.ts";
import { faultPoint } from "../../shared/work/fault-point.ts";
import { type Database, pipelined, preparedOnce, type Transaction } from "../../store/client.ts";
import { type KeyRow, sshKeys } from "../../store/schema.ts";
import { type ClosingRequest, disableAccess, restoreAccess, shutOnHost } from "../accounts/access.ts";
import { accountAt, activeKeysOf } from "../accounts/account.ts";
import { type Closing, isShutting, noteClosing, settleClosing, settledClosing } from "../accounts/closings.ts";
import { isExpired, requireUser, type User } from "../accounts/find-user.ts";
import { requireWithinUser } from "../accounts/narrowing.ts";
import { closingHostOf, giveKeys } from "../accounts/own-host.ts";
import { isProven } from "../accounts/profiles.ts";
import { hasRemoteHosts } from "../accounts/remote.ts";
import { noteFleetChange } from "../accounts/remote-changes.ts";
import { requireTerms } from "../accounts/terms.ts";
import { keyAdded, keyRemoved } from "../mail/messages.ts";
import { queueMail } from "../mail/outbox.ts";
import type { MailedJobs } from "../mail/phrases.ts";
import { siteWithKeys } from "../mail/site.ts";
import { audited, auditedClosing, auditedGrant } from "../operation/audited.ts";
import type { ClosingOperation, Context, Operation } from "../operation/context.ts";
import { SYSTEM } from "../operation/entry.ts";
import { requireAccepted, requireRoom } from "./accepted.ts";
import { insertKey } from "./insert.ts";
import { type GivenAttestation, provenMake } from "./proven-make.ts";
import { lockUserAndKeys } from "./row-lock.ts";

export interface NewKey {
  readonly name: string;
  readonly publicKey: string;
  /** The networks from which it may be used: CIDRs within the user's; none for all of the user's. */
  readonly sourceNetworks?: readonly string[] | undefined;
  /** What is to prove its make. */
  readonly attestation?: GivenAttestation | undefined;
  /** For a key that was found in the account's own files: throws unless an administrator may still confirm it. Without it, it is uploaded. */
  readonly confirm?: (op: Operation) => Promise<void>;
}

/** Stores a key for an active user and puts it into the account's file: both or neither. */
export function uploadKey(context: Context, userId: number, input: NewKey): Promise<KeyRow> {
  const entry = {
    action: input.confirm === undefined ? "key.create" : "key.confirm",
    subjectId: userId,
    detail: { name: input.name },
  } as const;
  return auditedGrant(context, entry, async (op) => {
    const now = context.clock.now();
    // The host's keys, for the mail, are read meanwhile.
    const [{ user, keys, owed }, site] = await Promise.all([lockUserAndKeys(op, userId), siteWithKeys(context)]);
    const name = parseKeyName(input.name);
    // Brings all formats of keys and certificates: loaded with the first key.
    const { parsePublicKey } = await import("./public-key.ts");
    const key = parsePublicKey(input.publicKey, context.policy.keyTypes);
    const sourceNetworks = [...parseNetworks(input.sourceNetworks ?? [])];
    requireWithinUser(user, sourceNetworks);
    if (user.status !== "active" || isExpired(user, now) || owed.some(isShutting)) {
      const sentence = "Keys can be added only while the account is active";
      throw new UamError("conflict", sentence, { reason: "user.not_active" });
    }
    requireRoom(keys, context.policy.maxKeys);
    // A key that was found opened the account before there was anybody to ask.
    if (input.confirm !== undefined) await input.confirm(op);
    else if (keys.length === 0) await requireTerms(op.tx, context, user);
    const make = await provenMake(op, userId, key, input.attestation);
    const { type, bits, fingerprint, publicKey } = key;
    const row = { userId, name, type, bits, fingerprint, publicKey, ...make, sourceNetworks, createdAt: now };
    await requireAccepted(op, user, row);
    const message = keyAdded(site, user, row);
    const [stored] = await pipelined(insertKey(op, row), queueMail(op, { recipient: user.email, message }));
    await op.onRollback(() => restoreAccess(context, user));
    faultPoint("key: stored, not in the file");
    await asOtherFailure(giveKeys(context, user, accountAt(now, user, { keys: [...keys, stored], owed })));
    // The name as stored, that is trimmed; the record of a failure has it as sent.
    op.record({ resourceId: String(stored.id), detail: { name, fingerprint } });
    if (isProven(make)) op.record({ detail: { model: make.model, aaguid: make.aaguid } });
    if (sourceNetworks.length > 0) op.record({ detail: { source_networks: sourceNetworks.join(", ") } });
    return stored;
  });
}

/** Changes the display name of an active key; the authorized-keys file is not touched. Throws `invalid` without a name. */
export function renameKey(
  context: Context,
  userId: number,
  keyId: number,
  newName: string | undefined,
): Promise<KeyRow> {
  const entry = keyEntry("key.rename", userId, keyId);
  return audited(context, entry, async (op) => {
    const { keys } = await lockUserAndKeys(op, userId);
    const key = await requireKey(op, keys, keyId);
    if (newName === undefined) throw new UamError("invalid", "Nothing to change: give name or source_networks");
    const name = parseKeyName(newName);
    await op.tx.update(sshKeys).set({ name }).where(eq(sshKeys.id, key.id)).prepare("rename_key").execute();
    op.record({ detail: { name } });
    return { ...key, name };
  });
}

/**
 * Revokes the key: when this returns, the account's file no longer holds it, and the sessions opened with it are ended. If
 * the file cannot be rewritten, the key stays stored as active and the user is disabled, so that the key is dead all the
 * same. If its sessions cannot be ended, the key is revoked and the user is disabled as well. Both throw `internal` with a
 * sentence.
 */
export function revokeKey(context: Context, userId: number, keyId: number): Promise<KeyRow> {
  return auditedClosing(context, keyEntry("key.revoke", userId, keyId), async (op) => {
    const { user, keys, owed } = await lockUserAndKeys(op, userId);
    const key = await requireKey(op, keys, keyId);
    const note = await noteClosing(context, { userId, kind: "revoke", keyId, action: "key.revoke" });
    return await carryOutRevocation(op, { user, keys, owed, key, note });
  });
}

/** A key that is being revoked. */
interface Revocation {
  readonly user: User;
  readonly keys: readonly KeyRow[];
  readonly owed: readonly Closing[];
  readonly key: KeyRow;
  readonly note: number;
}

async function carryOutRevocation(op: ClosingOperation, { user, keys, owed, key, note }: Revocation): Promise<KeyRow> {
  const { clock, policy } = op.context;
  op.begun(unfinished(key, "It stays out of the file"));
  op.record({ detail: { fingerprint: key.fingerprint } });
  const left = keys.filter((other) => other.id !== key.id);
  const account = accountAt(clock.now(), user, { keys: left, owed });
  const taken = await takeFromHost(op, user, { account, key });
  // Before the next query: the database may fail next, while the key still works.
  const shut = taken.rewritten && taken.owed.length === 0 ? undefined : await shutOnHost(op, user);
  const use = shut?.refused === false ? OPEN : "so it gives no access";
  const place = taken.rewritten ? "It stays out of the file" : `It could not be taken out of the file, ${use}`;
  op.begun(unfinished(key, place));
  await noteFleetChange(op, user);
  if (!taken.rewritten) {
    await settleClosing(op.tx, note);
    const reason = `the key ${key.fingerprint} could not be taken out of the authorized-keys file`;
    await shutInstead(op, user, { reason, shut });
    op.refuse(`${taken.problem}. The key is not revoked, but ${user.username} was disabled, ${use}`);
    return key;
  }
  const revokedAt = clock.now();
  op.record({ detail: { status: "revoked" } });
  const message = keyRemoved(policy.site, user, key, await jobsGone(op, taken.jobs));
  await pipelined(
    markRevoked(op.tx).execute({ id: key.id, at: revokedAt.toISOString(), note }),
    queueMail(op, { recipient: user.email, message }),
  );
  const [problem] = taken.owed;
  if (problem !== undefined) {
    const reason = `the sessions of the revoked key ${key.fingerprint} could not be ended`;
    await shutInstead(op, user, { reason, shut });
    op.refuse(`The key is revoked, but its sessions could not be ended, so ${user.username} was disabled: ${problem}`);
  }
  return { ...key, status: "revoked", revokedAt };
}

/** Continues a revocation that was noted and then interrupted; false if nothing is left to do. */
export async function finishRevocation(op: ClosingOperation, userId: number, note: Closing): Promise<boolean> {
  const { user, keys, owed } = await lockUserAndKeys(op, userId);
  const key = keys.find(({ id }) => id === note.keyId);
  if (key !== undefined) await carryOutRevocation(op, { user, keys, owed, key, note: note.id });
  else await settleClosing(op.tx, note.id);
  return key !== undefined;
}

/** Also settles the note. */
const markRevoked = preparedOnce((tx) =>
  tx
    .with(settledClosing(tx))
    .update(sshKeys)
    .set({ status: "revoked", revokedAt: sql`${sql.placeholder("at")}` })
    .where(eq(sshKeys.id, sql.placeholder("id")))
    .prepare("revoke_key"),
);

/** The removed jobs: here, and on further hosts, if there are any; their jobs are not known yet. */
async function jobsGone({ context }: ClosingOperation, here: JobsGone | undefined): Promise<MailedJobs> {
  return { here, elsewhere: context.policy.endSessions !== "none" && (await hasRemoteHosts(context)) };
}

/** If the host throws anything, the key counts as still in the file. */
async function takeFromHost(
  { context }: ClosingOperation,
  user: User,
  { account, key }: { readonly account: Account; readonly key: KeyRow },
): Promise<KeyTaken> {
  try {
    const taken = await (await closingHostOf(context, user)).takeKey(account, key.fingerprint);
    faultPoint("closing: host done, not stored");
    return taken;
  } catch (error) {
    context.log.error("a key could not be taken away on the host", { error, requestId: context.requestId });
    return { rewritten: false, problem: publicMessage(error) };
  }
}

/** Disables the user, recorded as done by the service, until an administrator has repaired the host. */
async function shutInstead(
  op: ClosingOperation,
  user: User,
  { reason, shut }: Pick<ClosingRequest, "shut"> & { readonly reason: string },
): Promise<void> {
  const { user: disabled, owed } = await disableAccess(op, user, { ...(shut && { shut }) });
  const detail = { username: user.username, status: disabled.status, reason };
  op.alsoRecord({
    actor: SYSTEM,
    entry: {
      action: "user.disable",
      resourceId: String(user.id),
      subjectId: user.id,
      detail: owed.length === 0 ? detail : { ...detail, err: owed.join(". ") },
    },
    result: owed.length === 0 ? "success" : "failed",
  });
}

/** The message to the caller if the database fails. */
function unfinished({ fingerprint }: KeyRow, place: string): string {
  return `The key ${fingerprint} is being revoked, but the database failed before this could be recorded. ${place}. It is stored as revoked once the database is available.`;
}

/** Said where the host did neither. */
const OPEN = "though the host may still let them in until it can be shut, which is tried again";

/** The user's active keys, oldest first; throws `not_found` if there is no such user. */
export async function listKeys(context: Context, userId: number): Promise<readonly KeyRow[]> {
  const keys = await activeKeysOf(context.autocommit)(userId);
  // Only an empty result leaves open whether the user exists.
  if (keys.length === 0) await requireUser(context.db, userId);
  return keys;
}

function keyEntry(action: "key.rename" | "key.revoke", userId: number, keyId: number) {
  return { action, resourceId: String(keyId), subjectId: userId } as const;
}

/** A key's display name: 1 to 64 code points of visible text. It never reaches the host. */
export function parseKeyName(text: string): string {
  return requireText("key's name", text, 64);
}

/** The specification's status table: where an account is missing or foreign, a change to its keys is an internal failure. */
async function asOtherFailure<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (error instanceof UamError && error.code === "conflict")
      throw new UamError("internal", error.message, { cause: error, reason: error.reason });
    throw error;
  }
}

/** One of the user's keys. An attempt on another user's key becomes part of that user's trail. */
export async function requireKey(op: Operation, keys: readonly KeyRow[], keyId: number): Promise<KeyRow> {
  const key = keys.find(({ id }) => id === keyId);
  if (key !== undefined) return key;
  const owner = await findKeyOwner(op.tx, keyId);
  if (owner !== undefined) op.about({ subjectId: owner });
  throw new UamError("not_found", "There is no such key, or it is already revoked", { reason: "key.missing" });
}

/** The id of the user who has or had the key; undefined if there is no such key. */
export async function findKeyOwner(db: Transaction | Database, keyId: number): Promise<number | undefined> {
  const [row] = await db.select({ owner: sshKeys.userId }).from(sshKeys).where(eq(sshKeys.id, keyId));
  return row?.owner;
}
