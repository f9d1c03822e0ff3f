/** A user's SSH keys: upload, rename, revoke, list, and the authorized-keys file that follows from them. */

import { and, asc, eq, sql } from "drizzle-orm";
import type { Account } from "../../protocol/host.ts";
import { UamError } from "../../shared/errors.ts";
import { builtOnce, type Database, inOneGo, isDuplicate, type Transaction } from "../../store/client.ts";
import { type KeyRow, sshKeys, type UserRow, users } from "../../store/schema.ts";
import { keyAdded, keyRemoved } from "../mail/messages.ts";
import { queueMail } from "../mail/outbox.ts";
import { audited, type Operation } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { findUser, isExpired, lockUser, requireUser } from "../users/find.ts";
import { hostAccountOf } from "../users/username.ts";
import { parsePublicKey } from "./public-key.ts";

export interface NewKey {
  readonly name: string;
  readonly publicKey: string;
}

/** Stores a key for an active user and puts it into the account's file; both or neither. */
export function uploadKey(context: Context, userId: number, input: NewKey): Promise<KeyRow> {
  const entry = {
    action: "key.create",
    subjectId: userId,
    detail: { name: input.name },
  } as const;
  return audited(context, entry, async (op) => {
    const now = context.clock.now();
    const { user, keys } = await lockUserAndKeys(op.tx, userId);
    const name = parseKeyName(input.name);
    const key = parsePublicKey(input.publicKey, context.policy.keyTypes);
    if (user.status !== "active" || isExpired(user, now)) {
      throw new UamError("conflict", "Keys can be added only while the account is active");
    }
    requireRoom(keys, context.policy.maxKeys);
    const { type, bits, fingerprint, publicKey } = key;
    const row = { userId, name, type, bits, fingerprint, publicKey, createdAt: now };
    const message = keyAdded(context.policy.site, user.username, row);
    const [stored] = await inOneGo(insertKey(op.tx, row), queueMail(op, { recipient: user.email, message }));
    await syncAuthorizedKeys(op, { user, keys: [...keys, stored] });
    // The name as it is stored, that is trimmed; the record of a failure has it as it was sent.
    op.learn({ resourceId: String(stored.id), detail: { name, fingerprint } });
    return stored;
  });
}

/** Changes the display name of an active key; the authorized-keys file is not touched. */
export function renameKey(context: Context, userId: number, keyId: number, newName: string): Promise<KeyRow> {
  const entry = keyEntry("key.rename", userId, keyId);
  return audited(context, entry, async (op) => {
    const { keys } = await lockUserAndKeys(op.tx, userId);
    const key = requireKey(keys, keyId);
    const name = parseKeyName(newName);
    await op.tx.update(sshKeys).set({ name }).where(eq(sshKeys.id, key.id)).prepare("rename_key").execute();
    op.learn({ detail: { name } });
    return { ...key, name };
  });
}

/**
 * Revokes the key: when this returns, the account's file no longer holds it, and the sessions opened with it are ended.
 * If the file cannot be set right the user is disabled, so that the key is dead all the same, and the call fails.
 */
export function revokeKey(context: Context, userId: number, keyId: number): Promise<KeyRow> {
  const entry = keyEntry("key.revoke", userId, keyId);
  return audited(context, entry, async (op) => {
    const { user, keys } = await lockUserAndKeys(op.tx, userId);
    const key = requireKey(keys, keyId);
    const revoked = { status: "revoked", revokedAt: context.clock.now() } as const;
    const message = keyRemoved(context.policy.site, user.username, key);
    const revoke = op.tx.update(sshKeys).set(revoked).where(eq(sshKeys.id, key.id)).prepare("revoke_key");
    await inOneGo(revoke.execute(), queueMail(op, { recipient: user.email, message }));
    const left = keys.filter((other) => other.id !== key.id);
    const account = await syncAuthorizedKeys(op, { user, keys: left, revoked: key.fingerprint });
    await context.host.endSessions(account, key.fingerprint);
    op.learn({ detail: { fingerprint: key.fingerprint } });
    return { ...key, ...revoked };
  });
}

/** The user's active keys, oldest first; throws `not_found` if there is no such user. */
export async function listKeys(context: Context, userId: number): Promise<readonly KeyRow[]> {
  const keys = await activeKeys(context.side, userId);
  // Only an empty answer leaves open whether there is such a user.
  if (keys.length === 0) await requireUser(context.db, userId);
  return keys;
}

/** What the host is told of a user: the account as it should be, with the keys as stored. */
export async function accountOf(tx: Transaction | Database, user: UserRow, now: Date): Promise<Account> {
  return accountAt(now, user, await activeKeys(tx, user.id));
}

/** The same from the user's active keys. */
function accountAt(now: Date, user: UserRow, keys: readonly KeyRow[]): Account {
  const open = user.status === "active" && !isExpired(user, now);
  return accountWith(user, open, open ? keys : []);
}

/** The same for a user whose account is to be open, with these keys, or shut. */
export function accountWith(user: UserRow, open: boolean, keys: readonly KeyRow[]): Account {
  return {
    name: hostAccountOf(user.username),
    uid: user.uid,
    expireAt: user.expireAt,
    open,
    keys: keys.map(({ id, fingerprint, publicKey }) => {
      const [type = "", base64 = ""] = publicKey.split(" ");
      return { id, type, base64, fingerprint };
    }),
  };
}

/** A user's active keys as an operation leaves them. */
interface KeyChange {
  readonly user: UserRow;
  readonly keys: readonly KeyRow[];
  /** Fingerprint of the one it revokes. */
  readonly revoked?: string;
}

/**
 * Rewrites the account's authorized-keys file from the keys as this operation leaves them; set back if it fails. But if the
 * host refuses while a key is revoked, the account is shut.
 */
async function syncAuthorizedKeys(op: Operation, { user, keys, revoked }: KeyChange): Promise<Account> {
  const { host, clock } = op.context;
  const account = accountAt(clock.now(), user, keys);
  let refused = false;
  op.onRollback(() =>
    refused && revoked !== undefined ? shutAccount(op.context, user.id) : restoreAccount(op.context, user),
  );
  try {
    await host.writeKeys(account, revoked);
  } catch (error) {
    refused = true;
    throw error;
  }
  return account;
}

/**
 * Disables a user whose key is to be dead but whose file cannot be rewritten, until an administrator has set the host
 * right. The account itself is shut even though its file still holds the key.
 */
async function shutAccount(context: Context, userId: number): Promise<void> {
  const { operation: _, ...outside } = context;
  const system = { ...outside, actor: { type: "system", name: "system", ip: "" } } as const;
  const reason = "a key was revoked, but the authorized-keys file could not be rewritten";
  const entry = {
    action: "user.disable",
    resourceId: String(userId),
    subjectId: userId,
  } as const;
  await audited(system, { ...entry, detail: { reason } }, async (op) => {
    const user = await lockUser(op.tx, userId);
    const now = context.clock.now();
    const shut = { status: "disabled", disabledAt: user.disabledAt ?? now, updatedAt: now } as const;
    await op.tx.update(users).set(shut).where(eq(users.id, userId));
    try {
      await context.host.applyAccess(accountWith({ ...user, ...shut }, false, []));
    } catch (error) {
      // Expected of the file; what counts is that the account is shut, which comes first. Reconcile goes on trying.
      context.log.error("an account was shut because its authorized-keys file cannot be rewritten", { userId, error });
    }
    op.learn({ detail: { status: shut.status } });
  });
}

/**
 * Sets the host back to what is stored for a user after a change to it failed, under the user's row lock. An account whose
 * user is not stored (a create that failed) is removed.
 */
export async function restoreAccount(context: Context, user: Pick<UserRow, "id" | "username" | "uid">): Promise<void> {
  await context.db.transaction(async (tx) => {
    const exists = user.id > 0 ? await findUser(tx, user.id) : undefined;
    if (exists === undefined)
      return await context.host.removeAccount({ name: hostAccountOf(user.username), uid: user.uid });
    const stored = await lockUser(tx, user.id);
    await context.host.applyAccess(await accountOf(tx, stored, context.clock.now()));
  });
}

/** Every stored user's account as it should be, for comparison with the host. */
export async function allAccounts(db: Database, now: Date): Promise<readonly Account[]> {
  const rows = await db.select().from(users).orderBy(asc(users.id));
  const keys = await db.select().from(sshKeys).where(eq(sshKeys.status, "active")).orderBy(asc(sshKeys.id));
  const byUser = Map.groupBy(keys, (key) => key.userId);
  return rows.map((user) => accountAt(now, user, byUser.get(user.id) ?? []));
}

function keyEntry(action: "key.rename" | "key.revoke", userId: number, keyId: number) {
  return { action, resourceId: String(keyId), subjectId: userId } as const;
}

/** Trims and checks a display name: 1 to 64 Unicode code points, no control characters. It never reaches the host. */
export function parseKeyName(text: string): string {
  const name = text.trim();
  const length = [...name].length;
  if (length < 1 || length > 64) throw new UamError("invalid", "The key's name must have 1 to 64 characters");
  if (/[\p{Cc}\u2028\u2029]/u.test(name) || !name.isWellFormed()) {
    throw new UamError("invalid", "The key's name must not contain control characters or line breaks");
  }
  return name;
}

const selectActiveKeys = builtOnce((db) =>
  db
    .select()
    .from(sshKeys)
    .where(and(eq(sshKeys.userId, sql.placeholder("userId")), eq(sshKeys.status, "active")))
    .orderBy(asc(sshKeys.id))
    .prepare("active_keys"),
);

async function activeKeys(db: Transaction | Database, userId: number): Promise<KeyRow[]> {
  return await selectActiveKeys(db).execute({ userId });
}

/** The user under its row lock, and its active keys as they are once that is held. Throws `not_found` without such a user. */
async function lockUserAndKeys(
  tx: Transaction,
  userId: number,
): Promise<{ readonly user: UserRow; readonly keys: readonly KeyRow[] }> {
  const [user, keys] = await inOneGo(lockUser(tx, userId), activeKeys(tx, userId));
  return { user, keys };
}

function requireKey(keys: readonly KeyRow[], keyId: number): KeyRow {
  const key = keys.find(({ id }) => id === keyId);
  if (key === undefined) throw new UamError("not_found", "There is no such key, or it is revoked already");
  return key;
}

function requireRoom(keys: readonly KeyRow[], maximum: number): void {
  if (keys.length >= maximum) {
    throw new UamError("conflict", `The account has ${maximum} keys, which is the maximum; revoke one first`);
  }
}

async function insertKey(tx: Transaction, key: typeof sshKeys.$inferInsert): Promise<KeyRow> {
  try {
    const [row] = await tx.insert(sshKeys).values(key).returning().prepare("insert_key").execute();
    if (row === undefined) throw new Error("insert returned no row");
    return row;
  } catch (error) {
    if (isDuplicate(error, "ssh_keys_active_fingerprint")) {
      throw new UamError("conflict", `A key with the fingerprint ${key.fingerprint} is active on this host already`);
    }
    throw error;
  }
}
