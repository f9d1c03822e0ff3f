/** Reads the rows of administrators. */

import { eq } from "drizzle-orm";
import type { Database, Transaction } from "../../store/client.ts";
import { type AdminRow, admins } from "../../store/schema-auth.ts";

/** Whether there is any administrator. */
export async function hasAdmins(db: Database | Transaction): Promise<boolean> {
  return (await db.select({ id: admins.id }).from(admins).limit(1)).length > 0;
}

/** The administrator of that name, or undefined. */
export async function findAdmin(db: Database | Transaction, username: string): Promise<AdminRow | undefined> {
  const [admin] = await db.select().from(admins).where(eq(admins.username, username)).prepare("find_admin").execute();
  return admin;
}

/** The administrator with that id, or undefined. */
export async function findAdminById(db: Database | Transaction, id: number): Promise<AdminRow | undefined> {
  const [admin] = await db.select().from(admins).where(eq(admins.id, id));
  return admin;
}
