/** An administrator's own passkeys: added, listed, renamed and removed. */

import { and, asc, eq } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { MAX_PASSKEY_NAME } from "../../../shared/product/limits.ts";
import { requireText } from "../../../shared/text/text.ts";
import { isDuplicate, type Transaction } from "../../../store/client.ts";
import type { AdminRow } from "../../../store/schema-auth.ts";
import { type PasskeyRow, passkeys } from "../../../store/schema-passkeys.ts";
import { factorsAdded, factorsRemoved } from "../../mail/factor-messages.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Operation } from "../../operation/context.ts";
import { issueTicket, openTicket, useTicket } from "../codes/tickets.ts";
import { requireFactorsLeft } from "../required-factors.ts";
import type { OwnSession } from "../sessions/sessions.ts";
import { readFactors, tellOwner } from "./factors.ts";
import { handleOf } from "./passkey-use.ts";
import { boundToSession, type Confirmation, confirmCaller, lockCaller } from "./step-up.ts";
import {
  type CreationOptions,
  challengeOf,
  creationOptions,
  type NewPasskeyAnswer,
  relyingParty,
  verifyNewPasskey,
} from "./webauthn.ts";

/** Of one administrator. */
export const MAX_PASSKEYS = 20;

/** A passkey as lists show it. */
export type PasskeyEntry = Pick<PasskeyRow, "id" | "name" | "backedUp" | "createdAt" | "lastUsedAt">;

/** The caller's passkeys, oldest first. */
export async function listPasskeys({ db }: Pick<Context, "db">, session: OwnSession): Promise<readonly PasskeyEntry[]> {
  const own = eq(passkeys.adminId, session.principal.id);
  return await db.select().from(passkeys).where(own).orderBy(asc(passkeys.id));
}

/**
 * The browser's options for a new passkey, after the caller has confirmed who they are; the challenge in it is valid for this session
 * and for minutes. Throws as `confirmCaller` does, and `conflict` if browsers cannot make passkeys here or the caller has the maximum
 * number.
 */
export async function beginPasskey(
  context: Context,
  session: OwnSession,
  confirmation: Confirmation,
): Promise<CreationOptions> {
  relyingParty(context.policy.site);
  const { id, username } = session.principal;
  await confirmCaller(context, session, confirmation, { action: "auth.passkey_add", detail: { username } });
  const known = await context.autocommit.select().from(passkeys).where(eq(passkeys.adminId, id));
  requireRoom(known.length);
  const challenge = await issueTicket(context, boundToSession("add-passkey", session));
  return creationOptions(context.policy.site, challenge, { username, handle: await handleOf(context, id) }, known);
}

/** A name for the passkey, and the browser's answer. */
export interface NewPasskey {
  readonly name: string;
  readonly answer: NewPasskeyAnswer;
}

/**
 * Stores a passkey that the browser has made, and mails its owner. Throws `invalid` for a wrong answer, or for a challenge that was used,
 * is too old or belongs to another session; `conflict` for one passkey too many.
 */
export async function addPasskey(context: Context, session: OwnSession, wanted: NewPasskey): Promise<PasskeyEntry> {
  const { username } = session.principal;
  return await audited(
    context,
    { action: "auth.passkey_add", detail: { username, name: wanted.name } },
    {
      prepare: async () => {
        const name = requireText("name", wanted.name, MAX_PASSKEY_NAME);
        const challenge = challengeOf(wanted.answer);
        const ticket = await openTicket(context, boundToSession("add-passkey", session), challenge);
        if (ticket === undefined) throw badPasskey();
        const made = await verifyNewPasskey(context, wanted.answer, challenge);
        if (made === undefined) throw badPasskey();
        return { name, ticket, made };
      },
      run: async (op, { name, ticket, made }) => {
        const admin = await lockCaller(op.tx, session);
        if (!(await useTicket(op.tx, ticket))) throw badPasskey();
        requireRoom((await readFactors(op.tx, admin.id)).passkeys);
        const row = await insertPasskey(op.tx, { ...made, name, adminId: admin.id, createdAt: context.clock.now() });
        op.record({ detail: { name, passkey: row.id } });
        await tellOwner(op, admin, factorsAdded, [nameOf(row)]);
        return row;
      },
    },
  );
}

/** Renames one of the caller's passkeys. Throws `invalid` and `not_found`. */
export async function renamePasskey(
  context: Context,
  session: OwnSession,
  id: number,
  typed: string,
): Promise<PasskeyEntry> {
  const { username } = session.principal;
  const detail = { username, passkey: id, name: typed };
  return await audited(context, { action: "auth.passkey_rename", detail }, async (op) => {
    const name = requireText("name", typed, MAX_PASSKEY_NAME);
    const before = await findOwn(op.tx, await lockCaller(op.tx, session), id);
    await op.tx.update(passkeys).set({ name }).where(eq(passkeys.id, id));
    op.record({ detail: { name, old_name: before.name } });
    return { ...before, name };
  });
}

/**
 * Removes one of the caller's passkeys, once they have confirmed who they are, and mails them. Throws as `confirmCaller` does, `not_found`,
 * and `conflict` for the last factor that the service requires.
 */
export async function removePasskey(
  context: Context,
  session: OwnSession,
  id: number,
  confirmation: Confirmation,
): Promise<void> {
  const { username } = session.principal;
  const entry = { action: "auth.passkey_remove", detail: { username, passkey: id } } as const;
  await confirmCaller(context, session, confirmation, entry);
  await audited(context, entry, async (op) => {
    const admin = await lockCaller(op.tx, session);
    const row = await findOwn(op.tx, admin, id);
    op.about({ detail: { name: row.name } });
    const { passkeys: held, totp } = await readFactors(op.tx, admin.id);
    requireFactorsLeft(context.policy.adminLogin, { passkeys: held - 1, totp });
    await op.tx.delete(passkeys).where(eq(passkeys.id, id));
    await tellOwner(op, admin, factorsRemoved, [nameOf(row)]);
  });
}

/**
 * Removes all passkeys of the administrator, each on record, and returns their names. The caller holds the row lock.
 */
export async function removePasskeysOf(op: Operation, { id, username }: AdminRow): Promise<readonly string[]> {
  const removed = await op.tx.delete(passkeys).where(eq(passkeys.adminId, id)).returning();
  for (const { id: passkey, name } of removed) {
    const entry = { action: "auth.passkey_remove", detail: { username, passkey, name } } as const;
    op.alsoRecord({ entry, result: "success" });
  }
  return removed.map(nameOf);
}

function nameOf({ name }: PasskeyRow): string {
  return `the passkey ${name}`;
}

async function insertPasskey(tx: Transaction, values: typeof passkeys.$inferInsert): Promise<PasskeyRow> {
  try {
    const [row] = await tx.insert(passkeys).values(values).returning();
    if (row === undefined) throw new Error("insert returned no row");
    return row;
  } catch (error) {
    if (isDuplicate(error, "passkeys_credential_id"))
      throw new UamError("conflict", "This passkey is already added", { reason: "passkey.taken" });
    throw error;
  }
}

async function findOwn(tx: Transaction, admin: AdminRow, id: number): Promise<PasskeyRow> {
  const own = and(eq(passkeys.id, id), eq(passkeys.adminId, admin.id));
  const [row] = await tx.select().from(passkeys).where(own).for("update");
  if (row !== undefined) return row;
  throw new UamError("not_found", `You have no passkey ${id}`, { reason: "passkey.missing" });
}

function requireRoom(held: number): void {
  if (held < MAX_PASSKEYS) return;
  throw new UamError("conflict", `You have ${MAX_PASSKEYS} passkeys, which is the most; remove one first`, {
    reason: "passkey.limit",
  });
}

function badPasskey(): UamError {
  const sentence =
    "The passkey was not accepted: it has to be made on this service's own page, within five minutes, with your fingerprint, face or PIN";
  return new UamError("invalid", sentence, { reason: "passkey.invalid" });
}
