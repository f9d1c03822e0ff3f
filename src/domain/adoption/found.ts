/** The keys that were found in an account when it was adopted: none counts until an administrator confirms it. */

import { and, eq, inArray } from "drizzle-orm";
import type { KeptKey } from "../../protocol/adoption.ts";
import { publicMessage, UamError } from "../../shared/errors.ts";
import type { FOUND_KEY_STATUSES } from "../../shared/product/statuses.ts";
import { isPrintable } from "../../shared/text/text.ts";
import type { Database, Transaction } from "../../store/client.ts";
import { dismissedKeys, type KeyRow, sshKeys } from "../../store/schema.ts";
import { requireUser } from "../accounts/find-user.ts";
import { requireAccepted, requireFactor } from "../keys/accepted.ts";
import { uploadKey } from "../keys/keys.ts";
import { type LockedUser, lockUserAndKeys } from "../keys/row-lock.ts";
import { verifyingProfiles } from "../keys/second-factor.ts";
import { fingerprintTaken } from "../keys/taken.ts";
import { audited } from "../operation/audited.ts";
import type { Context, Operation } from "../operation/context.ts";
import { adoptionOf, requireAdopter } from "./adopt.ts";

/** Of a key. */
const LONGEST_NAME = 64;

const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/;

/** A key that was found, and what became of it. */
export interface FoundUserKey extends KeptKey {
  /** `stored`: it is or was a key of the user, revoked or not. `dismissed`: an administrator does not want it to count. */
  readonly status: (typeof FOUND_KEY_STATUSES)[number];
  /** Why it cannot be confirmed, as a sentence; undefined if nothing is known that prevents it. */
  readonly refusal: string | undefined;
}

/** Each key once, in the order of the files; none where the user's account was not adopted. Throws `not_found` without such a user. */
export async function listFoundKeys(context: Context, userId: number): Promise<readonly FoundUserKey[]> {
  const { uid } = await requireUser(context.db, userId);
  return await withStatus(context, context.db, userId, context.adopter?.adoption(uid)?.keys ?? []);
}

/** The same. Throws `conflict` for an account that the service made. */
export async function requireFoundKeys(context: Context, userId: number): Promise<readonly FoundUserKey[]> {
  adoptionOf(requireAdopter(context), await requireUser(context.db, userId));
  return await listFoundKeys(context, userId);
}

/**
 * Stores keys that were found: from then on they open the account. If one of them was not found, was stored or dismissed before, or cannot be
 * stored, none is. Should the host fail in between, the message says how many are.
 */
export async function confirmKeys(
  context: Context,
  userId: number,
  fingerprints: readonly string[] | "all",
): Promise<readonly KeyRow[]> {
  const wanted = await decide(context, userId, { action: "key.confirm", fingerprints });
  const stored: KeyRow[] = [];
  for (const key of wanted) {
    const { type, base64, comment, fingerprint } = key;
    const name = comment !== "" && isPrintable(comment) && comment.length <= LONGEST_NAME ? comment : fingerprint;
    const confirm = async (op: Operation) => {
      for (const now of await withStatus(op.context, op.tx, userId, [key])) requireOpen(now);
    };
    try {
      stored.push(await uploadKey(context, userId, { name, publicKey: `${type} ${base64}`, confirm }));
    } catch (error) {
      if (stored.length === 0 || !(error instanceof UamError)) throw error;
      const done = `${stored.length} of ${wanted.length} keys are stored, ${fingerprint} and later ones are not`;
      throw new UamError(error.code, `${done}: ${error.message}`, { cause: error, reason: error.reason });
    }
  }
  return stored;
}

/** Notes that keys that were found shall not count; nobody can confirm them later. All of them or none, as for confirming. */
export async function dismissKeys(context: Context, userId: number, fingerprints: readonly string[]): Promise<void> {
  await decide(context, userId, { action: "key.dismiss", fingerprints });
}

interface Decision {
  readonly action: "key.confirm" | "key.dismiss";
  readonly fingerprints: readonly string[] | "all";
}

/** Checks all of them under the user's lock, and dismisses those that are to be; what is refused is on record. */
async function decide(
  context: Context,
  userId: number,
  { action, fingerprints }: Decision,
): Promise<readonly FoundUserKey[]> {
  const entry =
    action === "key.confirm"
      ? ({ action, subjectId: userId } as const)
      : ({ action, resourceId: String(userId), subjectId: userId } as const);
  return await audited(context, entry, async (op) => {
    const locked = await lockUserAndKeys(op, userId);
    const found = await withStatus(context, op.tx, userId, adoptionOf(requireAdopter(context), locked.user).keys);
    const wanted =
      fingerprints === "all"
        ? found.filter(({ status }) => status === "found")
        : [...new Set(fingerprints.map((text) => text.trim()))].map((fingerprint) => requireFound(found, fingerprint));
    if (fingerprints.length === 0) throw new UamError("invalid", "Give the fingerprint of at least one key");
    for (const key of wanted) requireOpen(key);
    if (action === "key.confirm") {
      await requireStorable(op, locked, wanted);
      // Each key that is stored has a record of its own.
      op.record({ unneeded: true });
      return wanted;
    }
    const at = context.clock.now();
    const rows = wanted.map(({ fingerprint }) => ({ userId, fingerprint, dismissedAt: at }));
    if (rows.length > 0) await op.tx.insert(dismissedKeys).values(rows);
    op.record({ detail: { fingerprints: wanted.map(fingerprintOf).join(", ") } });
    return wanted;
  });
}

/** Throws what storing one of them would throw as things are, so that not only the first ones are stored. */
async function requireStorable(
  op: Operation,
  { user, keys }: LockedUser,
  wanted: readonly FoundUserKey[],
): Promise<void> {
  const { policy } = op.context;
  const { parsePublicKey } = await import("../keys/public-key.ts");
  for (const { type, base64 } of wanted) {
    // Its owner made it before there was a challenge.
    await requireAccepted(op, user, { ...parsePublicKey(`${type} ${base64}`, policy.keyTypes), model: null });
  }
  const isTaken = and(eq(sshKeys.status, "active"), inArray(sshKeys.fingerprint, wanted.map(fingerprintOf)));
  const [taken] = await op.tx.select({ fingerprint: sshKeys.fingerprint }).from(sshKeys).where(isTaken).limit(1);
  if (taken !== undefined) throw fingerprintTaken(taken.fingerprint, policy.site);
  if (keys.length + wanted.length > policy.maxKeys) {
    const sentence = `The account would have ${keys.length + wanted.length} keys, and may have ${policy.maxKeys}: confirm fewer`;
    throw new UamError("conflict", sentence, { reason: "key.limit" });
  }
}

function fingerprintOf({ fingerprint }: FoundUserKey): string {
  return fingerprint;
}

/** What is not a fingerprint may be anything, a private key too: it is not said again. */
function requireFound(found: readonly FoundUserKey[], fingerprint: string): FoundUserKey {
  if (!FINGERPRINT.test(fingerprint)) {
    throw new UamError("invalid", "A fingerprint is as ssh-keygen -l prints it: SHA256: and 43 characters");
  }
  const key = found.find((it) => it.fingerprint === fingerprint);
  if (key !== undefined) return key;
  throw new UamError("not_found", `No key with the fingerprint ${fingerprint} was found`, { reason: "key.missing" });
}

function requireOpen({ fingerprint, status }: FoundUserKey): void {
  if (status === "found") return;
  const what = status === "stored" ? "is or was a key of the user already" : "was dismissed";
  throw new UamError("conflict", `The key ${fingerprint} ${what}: they can upload it themselves`);
}

async function withStatus(
  { policy }: Context,
  db: Database | Transaction,
  userId: number,
  keys: readonly KeptKey[],
): Promise<readonly FoundUserKey[]> {
  if (keys.length === 0) return [];
  const stored = await db.select({ fingerprint: sshKeys.fingerprint }).from(sshKeys).where(eq(sshKeys.userId, userId));
  const dismissed = await db
    .select({ fingerprint: dismissedKeys.fingerprint })
    .from(dismissedKeys)
    .where(eq(dismissedKeys.userId, userId));
  const [isStored, isDismissed] = [stored, dismissed].map((rows) => new Set(rows.map((row) => row.fingerprint)));
  const asking = await verifyingProfiles(db, userId);
  const { parsePublicKey } = await import("../keys/public-key.ts");
  const refusal = ({ type, base64 }: KeptKey) =>
    refusalOf(() => requireFactor(asking, { ...parsePublicKey(`${type} ${base64}`, policy.keyTypes), model: null }));
  const once = new Map<string, KeptKey>();
  for (const key of keys) if (!once.has(key.fingerprint)) once.set(key.fingerprint, key);
  return [...once.values()].map((key) => {
    const { fingerprint } = key;
    const status = isStored?.has(fingerprint) ? "stored" : isDismissed?.has(fingerprint) ? "dismissed" : "found";
    return { ...key, status, refusal: refusal(key) };
  });
}

function refusalOf(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    return publicMessage(error);
  }
}
