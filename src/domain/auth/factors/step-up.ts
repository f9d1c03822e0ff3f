/**
 * A session alone makes no login last longer or weaker than it was, and lets nobody else in as an administrator: whoever asks shows again who
 * they are. Otherwise a session that was stolen outlives the new password that was to end it.
 */

import { eq } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { MINUTE, shift } from "../../../shared/time/clock.ts";
import type { Transaction } from "../../../store/client.ts";
import { type AdminRow, admins, sessions } from "../../../store/schema-auth.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Operation } from "../../operation/context.ts";
import type { AuditEntry } from "../../operation/entry.ts";
import { findAdminById, returnRightAttempt, tryPassword } from "../administrators/admin.ts";
import { type OwnSession, wrongPassword } from "../administrators/admin-password.ts";
import type { Binding } from "../codes/tickets.ts";
import { hashToken } from "../sessions/sessions.ts";
import { readFactors } from "./factors.ts";
import {
  askForPasskey,
  boundTo,
  type CheckedPasskey,
  checkPasskey,
  findPasskey,
  passkeyRefused,
  usePasskey,
} from "./passkey-use.ts";
import type { PasskeyAnswer, RequestOptions } from "./webauthn.ts";

/** For how long a login at the provider of single sign-on shows it, of those who have nothing else. */
const RECENT = 5 * MINUTE;

/** What shows it: the present password, or a passkey that one has; nothing of who has neither, and has just logged in at the provider. */
export interface Confirmation {
  readonly password?: string | undefined;
  readonly passkey?: PasskeyAnswer | undefined;
}

/** The binding of what is handed out in a session and comes back in it. */
export function boundToSession(purpose: Binding["purpose"], { principal, token }: OwnSession): Binding {
  return boundTo(purpose, principal, Buffer.from(hashToken(token)).toString("hex"));
}

/** How somebody may confirm: by what the browser is asked for, null without a passkey; by a password; and without both by the login itself. */
export interface WaysToConfirm {
  readonly passkey: RequestOptions | null;
  readonly password: boolean;
}

/** What the caller may confirm with. */
export async function askForConfirmation(context: Context, session: OwnSession): Promise<WaysToConfirm> {
  const { principal } = session;
  const passkey = await askForPasskey(context, boundToSession("confirm", session), principal);
  const admin = await findAdminById(context.autocommit, principal.id);
  return { passkey, password: (admin?.passwordHash ?? null) !== null };
}

/**
 * Returns once the caller has shown who they are; what they go on to is `entry`, as which a refusal is recorded. Throws `forbidden`
 * for a wrong password, which counts as a failed login does, and for a login at the provider that is too long ago, of those who have nothing
 * else; `unauthorized` for a wrong passkey, and `limited` while the name is locked.
 */
export async function confirmCaller(
  context: Context,
  session: OwnSession,
  { password, passkey }: Confirmation,
  entry: AuditEntry,
): Promise<void> {
  const { id, username } = session.principal;
  const isGood = await audited(context, entry, {
    prepare: async (): Promise<CheckedPasskey | undefined> => {
      if (password !== undefined && passkey !== undefined) throw unconfirmed();
      if (passkey !== undefined) return await checkOwn(context, session, passkey);
      if (password === undefined) return undefined;
      const admin = await tryPassword(context, username, password);
      if (admin?.id !== id) throw wrongPassword();
      await returnRightAttempt(context, username);
      return undefined;
    },
    run: async (op, checked) => {
      const admin = await lockCaller(op.tx, session);
      if (password === undefined && passkey === undefined) await requireJustLoggedIn(op, session, admin);
      const isUsed = checked === undefined || (await usePasskey(op, admin, checked));
      // What is confirmed is recorded by what follows.
      if (isUsed) op.record({ unneeded: true });
      return isUsed;
    },
  });
  if (!isGood) throw passkeyRefused();
}

/** The same of a person; a machine, which has a token, has nothing else to show. */
export async function confirmPerson(
  context: Context,
  session: OwnSession,
  confirmation: Confirmation,
  entry: AuditEntry,
): Promise<void> {
  if (session.principal.token === undefined) await confirmCaller(context, session, confirmation, entry);
}

/** Throws unless the caller has neither a password nor a passkey, and logged in at the provider a moment ago. */
async function requireJustLoggedIn({ tx, context }: Operation, { token }: OwnSession, admin: AdminRow): Promise<void> {
  if (admin.passwordHash !== null || (await readFactors(tx, admin.id)).passkeys > 0) throw unconfirmed();
  const [login] = await tx
    .select({ way: sessions.way, at: sessions.createdAt })
    .from(sessions)
    .where(eq(sessions.tokenHash, hashToken(token)));
  if (login?.way === "oidc" && login.at > shift(context.clock.now(), -RECENT)) return;
  const sentence = "Log in at the provider again: what you ask for needs a login there within the last 5 minutes";
  throw new UamError("forbidden", sentence, { reason: "login.not_recent" });
}

function unconfirmed(): UamError {
  return new UamError("invalid", "Confirm that it is you: send either password, your present one, or passkey");
}

async function checkOwn(context: Context, session: OwnSession, answer: PasskeyAnswer): Promise<CheckedPasskey> {
  const found = await findPasskey(context, answer);
  const checked = await checkPasskey(context, boundToSession("confirm", session), answer, found);
  if (checked?.passkey.adminId !== session.principal.id) throw passkeyRefused();
  return checked;
}

/**
 * The caller's row, locked, as every change of what they log in with begins. Throws `unauthorized` if the session was ended since the
 * request came: whoever was shut out at the shell a moment ago must not leave a way back in.
 */
export async function lockCaller(tx: Transaction, { principal, token }: OwnSession): Promise<AdminRow> {
  const [admin] = await tx.select().from(admins).where(eq(admins.id, principal.id)).for("update");
  const open = await tx
    .select({ way: sessions.way })
    .from(sessions)
    .where(eq(sessions.tokenHash, hashToken(token)));
  if (admin === undefined || open.length === 0) throw new UamError("unauthorized", "Log in first");
  return admin;
}
