/** A session alone adds nothing that one can log in with: whoever asks shows again who they are. */

import { eq } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { Transaction } from "../../store/client.ts";
import { type AdminRow, admins, sessions } from "../../store/schema-auth.ts";
import type { AuditAction } from "../operation/audit-actions.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { returnRightAttempt, tryPassword } from "./admin.ts";
import { type OwnSession, wrongPassword } from "./admin-password.ts";
import {
  askForPasskey,
  boundTo,
  type CheckedPasskey,
  checkPasskey,
  findPasskey,
  passkeyRefused,
  usePasskey,
} from "./passkey-use.ts";
import { hashToken } from "./sessions.ts";
import type { Binding } from "./tickets.ts";
import type { PasskeyAnswer, RequestOptions } from "./webauthn.ts";

/** What shows it: the present password, or a passkey that one has. */
export interface Confirmation {
  readonly password?: string | undefined;
  readonly passkey?: PasskeyAnswer | undefined;
}

/** The binding of what is handed out in a session and comes back in it. */
export function boundToSession(purpose: Binding["purpose"], { principal, token }: OwnSession): Binding {
  return boundTo(purpose, principal, Buffer.from(hashToken(token)).toString("hex"));
}

/** What the browser is asked for, to confirm with a passkey; null for one who has none. */
export async function askForConfirmation(context: Context, session: OwnSession): Promise<RequestOptions | null> {
  return await askForPasskey(context, boundToSession("confirm", session), session.principal);
}

/**
 * Returns once the caller has shown who they are; what they go on to is `action`, under which a refusal is recorded. Throws `forbidden`
 * for a wrong password, which counts as a failed login does, `unauthorized` for a wrong passkey, and `limited` while the name is locked.
 */
export async function confirmCaller(
  context: Context,
  session: OwnSession,
  { password, passkey }: Confirmation,
  action: AuditAction,
): Promise<void> {
  const { id, username } = session.principal;
  const isGood = await audited(
    context,
    { action, detail: { username } },
    {
      prepare: async (): Promise<CheckedPasskey | undefined> => {
        if ((password === undefined) === (passkey === undefined)) {
          throw new UamError("invalid", "Confirm that it is you: send either password, your present one, or passkey");
        }
        if (passkey !== undefined) return await checkOwn(context, session, passkey);
        const admin = await tryPassword(context, username, password ?? "");
        if (admin?.id !== id) throw wrongPassword();
        await returnRightAttempt(context, username);
        return undefined;
      },
      run: async (op, checked) => {
        const admin = await lockCaller(op.tx, session);
        const isUsed = checked === undefined || (await usePasskey(op, admin, checked));
        // What is confirmed is recorded by what follows.
        if (isUsed) op.record({ unneeded: true });
        return isUsed;
      },
    },
  );
  if (!isGood) throw passkeyRefused();
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
