/** Adds administrators. */

import { UamError } from "../../../shared/errors.ts";
import type { AdminRole } from "../../../shared/product/statuses.ts";
import { ADMIN_NAME } from "../../../shared/text/person.ts";
import { isDuplicate, type Transaction } from "../../../store/client.ts";
import { type AdminRow, admins } from "../../../store/schema-auth.ts";
import { parseEmail } from "../../accounts/username.ts";
import { audited } from "../../operation/audited.ts";
import type { Context } from "../../operation/context.ts";
import { checkPassword } from "./passwords.ts";

/** Adds an administrator with a password, at the shell; throws `conflict` if the name is taken. */
export function addAdmin(
  context: Context,
  username: string,
  typedEmail: string,
  password: string,
  role: AdminRole = "owner",
): Promise<AdminRow> {
  const entry = { action: "admin.create", detail: { username, email: typedEmail, role } } as const;
  return audited(context, entry, {
    prepare: async () => {
      checkAdminName(username);
      const email = parseEmail(typedEmail);
      checkPassword(password, username);
      return { email, passwordHash: await context.hasher.hash(password) };
    },
    run: async (op, made) => {
      const now = context.clock.now();
      const row = await insertAdmin(op.tx, { username, role, ...made, createdAt: now, updatedAt: now });
      op.record({ resourceId: String(row.id), detail: { email: row.email } });
      return row;
    },
  });
}

/** Throws `invalid` for a text that cannot be an administrator's name. */
export function checkAdminName(username: string): void {
  if (ADMIN_NAME.test(username)) return;
  throw new UamError(
    "invalid",
    "An administrator's name must be 1 to 64 characters of a-z, 0-9, dot, _ and -, and must begin and end with a letter or digit",
  );
}

/** Stores an administrator; throws `conflict` if the name is taken. */
export async function insertAdmin(tx: Transaction, admin: typeof admins.$inferInsert): Promise<AdminRow> {
  try {
    const [row] = await tx.insert(admins).values(admin).returning();
    if (row === undefined) throw new Error("insert returned no row");
    return row;
  } catch (error) {
    if (isDuplicate(error, "admins_username_unique"))
      throw new UamError("conflict", `The administrator ${admin.username} already exists`, { reason: "admin.taken" });
    throw error;
  }
}
