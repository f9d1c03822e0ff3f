/** Changes an administrator's own password; they are logged in and know the current one. */

import { eq } from "drizzle-orm";
import { admins, resetTokens } from "../../../store/schema-auth.ts";
import { audited } from "../../operation/audited.ts";
import type { Context } from "../../operation/context.ts";
import { returnRightAttempt, tryPassword, unlock, wrongCurrentPassword } from "../factors/password.ts";
import { endSessionsOf, type OwnSession } from "../sessions/sessions.ts";
import { checkPassword } from "./passwords.ts";

export interface PasswordChange {
  /** The one they have. */
  readonly present: string;
  readonly next: string;
}

/**
 * Replaces the caller's password, ends all their other sessions, and voids a mailed reset link. Throws `invalid` for a password
 * that is not allowed, `forbidden` for a wrong current one, which counts as a failed login, and `limited` while the name is
 * locked.
 */
export async function changeOwnPassword(context: Context, session: OwnSession, change: PasswordChange): Promise<void> {
  const { id, username } = session.principal;
  await audited(
    context,
    { action: "auth.admin_password", detail: { username } },
    {
      prepare: async () => {
        checkPassword(change.next, username);
        const admin = await tryPassword(context, username, change.present);
        if (admin?.id !== id) throw wrongCurrentPassword();
        await returnRightAttempt(context, username);
        return { before: admin.passwordHash, passwordHash: await context.hasher.hash(change.next) };
      },
      run: async (op, { before, passwordHash }) => {
        await unlock(op.tx, username);
        const [admin] = await op.tx.select().from(admins).where(eq(admins.id, id)).for("update");
        // Somebody else has changed the password, or removed the administrator, while this one was being verified.
        if (admin?.passwordHash !== before) throw wrongCurrentPassword();
        await op.tx.update(admins).set({ passwordHash, updatedAt: context.clock.now() }).where(eq(admins.id, id));
        await op.tx.delete(resetTokens).where(eq(resetTokens.adminId, id));
        await endSessionsOf(op.tx, "admin", id, session.token);
      },
    },
  );
}
