/**
 * A session alone must not make a login last longer or weaker, or let somebody else in as an administrator: the caller confirms again who
 * they are. Otherwise a stolen session could outlive the new password that was meant to end it.
 */

import { eq } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { MINUTE, shift } from "../../../shared/time/clock.ts";
import type { Transaction } from "../../../store/client.ts";
import { type AdminRow, admins, sessions } from "../../../store/schema-auth.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Operation } from "../../operation/context.ts";
import type { AuditEntry } from "../../operation/entry.ts";
import type { Binding } from "../codes/tickets.ts";
import { findAdminById } from "../find-administrator.ts";
import { hashToken, type OwnSession } from "../sessions/sessions.ts";
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
import { returnRightAttempt, tryPassword, wrongCurrentPassword } from "./password.ts";
import type { PasskeyAnswer, RequestOptions } from "./webauthn.ts";

/**
 * For how long a login at the provider of single sign-on counts as confirmation, for administrators who have nothing
 * else.
 */
const RECENT = 5 * MINUTE;

/** The proof: the current password or a passkey. Neither, for administrators who have neither and have just logged in at the provider. */
export interface Confirmation {
  readonly password?: string | undefined;
  readonly passkey?: PasskeyAnswer | undefined;
}

/** The binding of a ticket that is handed out in a session and comes back in it. */
export function boundToSession(purpose: Binding["purpose"], { principal, token }: OwnSession): Binding {
  return boundTo(purpose, principal, Buffer.from(hashToken(token)).toString("hex"));
}

/** The ways to confirm: a passkey, with options for the browser (null without one); a password; and, with neither, the login itself. */
export interface WaysToConfirm {
  readonly passkey: RequestOptions | null;
  readonly password: boolean;
}

/** The ways to confirm that the caller has. */
export async function askForConfirmation(context: Context, session: OwnSession): Promise<WaysToConfirm> {
  const { principal } = session;
  const passkey = await askForPasskey(context, boundToSession("confirm", session), principal);
  const admin = await findAdminById(context.autocommit, principal.id);
  return { passkey, password: (admin?.passwordHash ?? null) !== null };
}

/**
 * Returns once the caller has confirmed who they are. `entry` is their next operation; a refusal is recorded as that. Throws `forbidden` for
 * a wrong password, which counts as a failed login, and for a login at the provider that is too long ago, if the caller has nothing else;
 * `unauthorized` for a wrong passkey, and `limited` while the name is locked.
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
      if (admin?.id !== id) throw wrongCurrentPassword();
      await returnRightAttempt(context, username);
      return undefined;
    },
    run: async (op, checked) => {
      const admin = await lockCaller(op.tx, session);
      if (password === undefined && passkey === undefined) await requireJustLoggedIn(op, session, admin);
      const isUsed = checked === undefined || (await usePasskey(op, admin, checked));
      // The next operation records the confirmation.
      if (isUsed) op.record({ unneeded: true });
      return isUsed;
    },
  });
  if (!isGood) throw passkeyRefused();
}

/** The same for a person; a machine with a token has nothing else to confirm with. */
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
  const sentence = "Log in at the provider again: this request needs a login there within the last 5 minutes";
  throw new UamError("forbidden", sentence, { reason: "login.not_recent" });
}

function unconfirmed(): UamError {
  return new UamError("invalid", "Confirm that it is you: send either password, your current one, or passkey");
}

async function checkOwn(context: Context, session: OwnSession, answer: PasskeyAnswer): Promise<CheckedPasskey> {
  const found = await findPasskey(context, answer);
  const checked = await checkPasskey(context, boundToSession("confirm", session), answer, found);
  if (checked?.passkey.adminId !== session.principal.id) throw passkeyRefused();
  return checked;
}

/**
 * Locks and returns the caller's row; every change of their login factors begins with it. Throws `unauthorized` if the session has
 * ended since the request came: a caller who was shut out at the shell a moment ago must not leave a way back in.
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
