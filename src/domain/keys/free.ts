/** Frees a key that somebody other than its owner uploaded first. */

import { and, eq } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import { type KeyRow, sshKeys, type UserRow } from "../../store/schema.ts";
import { requireUser } from "../accounts/find-user.ts";
import type { Context } from "../operation/context.ts";
import { revokeKey } from "./keys.ts";

/** A revoked key, and its owner. */
export interface FreedKey {
  readonly key: KeyRow;
  readonly holder: UserRow;
}

/**
 * Revokes the active key with that fingerprint for whichever user has it, so that its owner can upload it. Throws `invalid` for a
 * text that is not a fingerprint, `not_found` if no active key has it, and otherwise as `revokeKey` does.
 */
export async function freeKey(context: Context, fingerprint: string): Promise<FreedKey> {
  if (!/^SHA256:[A-Za-z0-9+/]{43}$/.test(fingerprint)) {
    throw new UamError("invalid", "The fingerprint must be as ssh-keygen -l prints it: SHA256: and 43 characters");
  }
  const [active] = await context.db
    .select()
    .from(sshKeys)
    .where(and(eq(sshKeys.fingerprint, fingerprint), eq(sshKeys.status, "active")));
  if (active === undefined) {
    throw new UamError("not_found", `No active key has the fingerprint ${fingerprint}`, { reason: "key.missing" });
  }
  const holder = await requireUser(context.db, active.userId);
  return { key: await revokeKey(context, active.userId, active.id), holder };
}
