/** External users who come from a company, and its managers. */

import { eq } from "drizzle-orm";
import { createCompany } from "../../src/domain/companies/companies.ts";
import { users } from "../../src/store/schema.ts";
import type { TestApp } from "./app.ts";

let count = 0;

/** Makes the user the manager of a company, of a new one by default; returns the company's id. */
export async function makeManager(app: TestApp, userId: number, companyId?: number): Promise<number> {
  const id = companyId ?? (await createCompany(app.system, { name: `company of ${userId} ${++count}` })).row.id;
  await app.db.update(users).set({ companyId: id, manager: true }).where(eq(users.id, userId));
  return id;
}
