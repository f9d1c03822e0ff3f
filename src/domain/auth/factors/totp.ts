/** Codes of authenticator apps (RFC 6238): the second step for people with devices that have no passkeys. */

import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import type { TOTP } from "otpauth";
import { UamError } from "../../../shared/errors.ts";
import { DAY } from "../../../shared/time/clock.ts";
import type { Database, Transaction } from "../../../store/client.ts";
import type { AdminRow } from "../../../store/schema-auth.ts";
import { type TotpRow, totpSecrets } from "../../../store/schema-passkeys.ts";
import { codesGuessed, factorsAdded, factorsRemoved } from "../../mail/factor-messages.ts";
import { queueMail } from "../../mail/outbox.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Operation, Site } from "../../operation/context.ts";
import { type AttemptLimit, claimAttempt } from "../codes/attempts.ts";
import { issueTicket, openTicket, useTicket } from "../codes/tickets.ts";
import { requireFactorsLeft } from "../required-factors.ts";
import { type Sealing, seal, unseal } from "../sealed.ts";
import type { OwnSession } from "../sessions/sessions.ts";
import { readFactors, tellOwner } from "./factors.ts";
import { boundToSession, type Confirmation, confirmCaller, lockCaller } from "./step-up.ts";

/**
 * Settings that every authenticator app supports: SHA-1, six digits, thirty seconds. 160 bits, as RFC 4226 recommends.
 */
const APP = { algorithm: "SHA1", digits: 6, period: 30 } as const;
const SECRET_BYTES = 20;
/** Clocks may be this many steps apart, either way. */
const WINDOW = 1;
const NAME = "the authenticator app";

/** The data for the app, shown once; `ticket` comes back with the first code. */
export interface NewApp {
  /** Base32. */
  readonly secret: string;
  readonly uri: string;
  /** The same as a picture, for a phone's camera; SVG. */
  readonly picture: string;
  readonly ticket: string;
}

/** A code that is right for the time; whether it was used is checked under the row's lock. */
export interface CheckedCode {
  readonly step: number;
}

/** The caller's app, or undefined. */
export async function findApp({ db }: Pick<Context, "db">, { principal }: OwnSession): Promise<TotpRow | undefined> {
  return await findRow(db, principal.id);
}

/**
 * A new secret, once the caller has confirmed who they are. It is stored only when `addApp` confirms it. Throws as `confirmCaller` does, and
 * `conflict` if there is an app already.
 */
export async function beginApp(context: Context, session: OwnSession, confirmation: Confirmation): Promise<NewApp> {
  const { id, username } = session.principal;
  await confirmCaller(context, session, confirmation, { action: "auth.totp_add", detail: { username } });
  if ((await findRow(context.autocommit, id)) !== undefined) throw alreadyAdded();
  const secret = randomBytes(SECRET_BYTES);
  const app = await appWith(secret, { username, site: context.policy.site });
  const uri = app.toString();
  const { renderSVG } = await import("uqr");
  return {
    secret: app.secret.base32,
    uri,
    picture: renderSVG(uri, { border: 4 }),
    ticket: await issueTicket(context, boundToSession("add-totp", session), app.secret.base32),
  };
}

/** Stores the secret from the ticket, if the code proves that an app has it, and mails its owner. Throws `invalid` and `conflict`. */
export async function addApp(
  context: Context,
  session: OwnSession,
  { ticket: text, code }: { readonly ticket: string; readonly code: string },
): Promise<TotpRow> {
  const { id, username } = session.principal;
  return await audited(
    context,
    { action: "auth.totp_add", detail: { username } },
    {
      prepare: async () => {
        const ticket = await openTicket(context, boundToSession("add-totp", session), text);
        if (ticket === undefined) throw tooOld();
        const step = await stepOf(context, await bytesOf(ticket.payload), code);
        if (step === undefined) throw new UamError("invalid", WRONG_HERE, { reason: "totp.wrong" });
        return { ticket, step };
      },
      run: async (op, { ticket, step }) => {
        const admin = await lockCaller(op.tx, session);
        if (!(await useTicket(op.tx, ticket))) throw tooOld();
        const sealed = seal(sealingOf(context, id), await bytesOf(ticket.payload));
        const [row] = await op.tx
          .insert(totpSecrets)
          .values({ adminId: id, sealed, lastStep: step, createdAt: context.clock.now() })
          .onConflictDoNothing()
          .returning();
        if (row === undefined) throw alreadyAdded();
        await tellOwner(op, admin, factorsAdded, [NAME]);
        return row;
      },
    },
  );
}

/**
 * Removes the caller's app, once they have confirmed who they are, and mails them. Throws as `confirmCaller` does, `not_found`, and `conflict`
 * for the last factor that the service requires.
 */
export async function removeApp(context: Context, session: OwnSession, confirmation: Confirmation): Promise<void> {
  const { username } = session.principal;
  const entry = { action: "auth.totp_remove", detail: { username } } as const;
  await confirmCaller(context, session, confirmation, entry);
  await audited(context, entry, async (op) => {
    const admin = await lockCaller(op.tx, session);
    const factors = await readFactors(op.tx, admin.id);
    if (!factors.totp)
      throw new UamError("not_found", "You have no authenticator app set up", { reason: "totp.missing" });
    requireFactorsLeft(context.policy.adminLogin, { ...factors, totp: false });
    await op.tx.delete(totpSecrets).where(eq(totpSecrets.adminId, admin.id));
    await tellOwner(op, admin, factorsRemoved, [NAME]);
  });
}

/** Removes the administrator's app, on record, and returns its name, if there was one. The caller holds the row lock. */
export async function removeAppOf(op: Operation, { id, username }: AdminRow): Promise<readonly string[]> {
  const removed = await op.tx.delete(totpSecrets).where(eq(totpSecrets.adminId, id)).returning();
  if (removed.length === 0) return [];
  op.alsoRecord({ entry: { action: "auth.totp_remove", detail: { username } }, result: "success" });
  return [NAME];
}

/**
 * The code, if it is right for the time; else undefined. Each wrong code counts, and locks the codes for longer and longer: only somebody
 * with the password gets here, and a mail tells the owner. Throws `limited` while they are locked.
 */
export async function checkCode(context: Context, admin: AdminRow, code: string): Promise<CheckedCode | undefined> {
  const attempt = { username: admin.username, now: context.clock.now() };
  const locked = await claimAttempt(context.autocommit, limitOf(context), attempt);
  const row = await findRow(context.autocommit, admin.id);
  const step = row === undefined ? undefined : await stepOf(context, openSecret(context, row), code);
  if (step !== undefined) return { step };
  if (locked !== undefined) {
    const { site } = context.policy;
    const message = codesGuessed(site, { username: admin.username, at: attempt.now, from: context.actor.ip });
    await context.db.transaction((tx) => queueMail({ tx, context }, { recipient: admin.email, message }));
  }
  return undefined;
}

/** Uses up the code and all earlier ones; false if it was used. The caller holds the row lock of its administrator. */
export async function useCode(op: Operation, { id }: AdminRow, { step }: CheckedCode): Promise<boolean> {
  const [row] = await op.tx.select().from(totpSecrets).where(eq(totpSecrets.adminId, id)).for("update");
  if (row === undefined || step <= row.lastStep) return false;
  const used = { lastStep: step, lastUsedAt: op.context.clock.now() };
  await op.tx.update(totpSecrets).set(used).where(eq(totpSecrets.adminId, id));
  return true;
}

async function findRow(db: Database | Transaction, id: number): Promise<TotpRow | undefined> {
  const [row] = await db.select().from(totpSecrets).where(eq(totpSecrets.adminId, id));
  return row;
}

/** The time step that the code is for, within the window; undefined for a wrong one. */
async function stepOf({ clock }: Pick<Context, "clock">, secret: Uint8Array, typed: string) {
  const token = typed.replace(/[\s\p{Dash}]/gu, "");
  if (!/^\d{6}$/.test(token)) return undefined;
  const timestamp = clock.now().getTime();
  const delta = (await appWith(secret)).validate({ token, timestamp, window: WINDOW });
  return delta === null ? undefined : Math.floor(timestamp / 1000 / APP.period) + delta;
}

async function appWith(secret: Uint8Array, about?: { readonly username: string; readonly site: Site }): Promise<TOTP> {
  const { Secret, TOTP } = await import("otpauth");
  const named = about === undefined ? {} : { issuer: about.site.host, label: about.username };
  return new TOTP({ ...APP, ...named, secret: new Secret({ buffer: new Uint8Array(secret).buffer }) });
}

async function bytesOf(base32: string): Promise<Uint8Array> {
  const { Secret } = await import("otpauth");
  return Secret.fromBase32(base32).bytes;
}

/** Bound to the administrator: in another's row it cannot be opened. */
function sealingOf({ seal: log }: Pick<Context, "seal">, adminId: number): Sealing {
  return { key: log.keyFor("uam totp 1"), purpose: String(adminId) };
}

function openSecret(context: Pick<Context, "seal">, { adminId, sealed }: TotpRow): Uint8Array {
  const secret = unseal(sealingOf(context, adminId), sealed);
  if (secret !== undefined) return secret;
  const sentence = 'The secret of the authenticator app cannot be read; on the host, "uam admin passwd" removes it';
  throw new UamError("internal", sentence);
}

function limitOf({ policy }: Context): AttemptLimit {
  const { lockoutThreshold: most, lockoutPeriod: period } = policy;
  return { kind: "totp", most, period, longest: Math.max(period, DAY), what: "Too many wrong codes" };
}

const WRONG_HERE = "The code is not the app's current one; check the clocks of phone and host";

function alreadyAdded(): UamError {
  return new UamError("conflict", "An authenticator app is set up already; remove it first", { reason: "totp.taken" });
}

function tooOld(): UamError {
  return new UamError("invalid", "The secret is too old, or was confirmed before; ask for a new one", {
    reason: "totp.expired",
  });
}
