/** Changes to administrators by the host's operator; the service's log reports them too, for whoever watches it. */

import { asc, eq } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { Transaction } from "../../store/client.ts";
import { type AdminRow, admins, resetTokens } from "../../store/schema-auth.ts";
import { audited } from "../operation/audited.ts";
import type { Context } from "../operation/context.ts";
import { unlock } from "./admin.ts";
import { checkPassword } from "./passwords.ts";
import { endSessionsOf } from "./sessions.ts";

/** An administrator without the password's hash. */
export type AdminEntry = Omit<AdminRow, "passwordHash">;

/** Every administrator, by name. */
export async function listAdmins(context: Context): Promise<readonly AdminEntry[]> {
  const rows = await context.db.select().from(admins).orderBy(asc(admins.username));
  return rows.map(({ passwordHash: _, ...entry }) => entry);
}

/**
 * Sets a new password for the administrator; ends every session, voids a pending reset token, and clears the lock of the
 * name. Throws `not_found`, and `invalid` for a password that is not allowed.
 */
export async function setAdminPassword(context: Context, username: string, password: string): Promise<AdminEntry> {
  const entry = { action: "admin.update", detail: { username, changed: "password" } } as const;
  const changed = await audited(context, entry, {
    prepare: async () => {
      checkPassword(password, username);
      return await context.hasher.hash(password);
    },
    run: async (op, passwordHash) => {
      await unlock(op.tx, username);
      const admin = await lockAdmin(op.tx, username);
      const updatedAt = context.clock.now();
      await op.tx.update(admins).set({ passwordHash, updatedAt }).where(eq(admins.id, admin.id));
      await op.tx.delete(resetTokens).where(eq(resetTokens.adminId, admin.id));
      await endSessionsOf(op.tx, "admin", admin.id);
      op.record({ resourceId: String(admin.id) });
      return { ...admin, updatedAt };
    },
  });
  report(context, "an administrator's password was changed, and their sessions were ended", username);
  return changed;
}

/**
 * Removes the administrator and ends every session. The last one is removed only with "even-the-last", because then nobody
 * can log in as one any more. Throws `not_found` and `conflict`.
 */
export async function removeAdmin(context: Context, username: string, which?: "even-the-last"): Promise<AdminEntry> {
  const removed = await audited(context, { action: "admin.remove", detail: { username } }, async (op) => {
    const { tx } = op;
    await unlock(tx, username);
    // Locks all rows, always in the same order: two simultaneous removals must not both find another administrator left.
    const all = await tx.select({ id: admins.id }).from(admins).orderBy(asc(admins.id)).for("update");
    const admin = await lockAdmin(tx, username);
    if (all.length === 1 && which !== "even-the-last") {
      throw new UamError("conflict", `${username} is the last administrator; add another first, or use --force`);
    }
    await tx.delete(admins).where(eq(admins.id, admin.id));
    await endSessionsOf(tx, "admin", admin.id);
    op.record({ resourceId: String(admin.id), detail: { email: admin.email } });
    return admin;
  });
  report(context, "an administrator was removed, and their sessions were ended", username);
  return removed;
}

async function lockAdmin(tx: Transaction, username: string): Promise<AdminEntry> {
  const [row] = await tx.select().from(admins).where(eq(admins.username, username)).for("update");
  if (row === undefined) throw new UamError("not_found", `There is no administrator named ${JSON.stringify(username)}`);
  const { passwordHash: _, ...entry } = row;
  return entry;
}

function report({ log, actor }: Context, message: string, username: string): void {
  log.warn(message, { username, operator: actor.name });
}
