/** Previews of what takes access away from users of a company; reads without locks, changes nothing and records nothing. */

import type { Preview } from "../../shared/product/preview.ts";
import { counted, namedUpTo } from "../../shared/text/counted.ts";
import type { Context } from "../operation/context.ts";
import { requireCompany } from "./companies.ts";
import { activeUsers } from "./ending.ts";

/** A preview, and how many users would lose their access. */
export interface CompanyPreview extends Preview {
  readonly users: number;
}

/** Names in a sentence. */
const MOST = 20;

/** Previews `endCompany`. */
export async function previewEnd({ db }: Pick<Context, "db">, id: number): Promise<CompanyPreview> {
  const { name, status } = await requireCompany(db, id);
  const names = (await activeUsers(db, id)).map(({ username }) => username);
  const losing =
    names.length === 0
      ? `Nobody of ${name} has access now.`
      : `${counted(names.length, "user")} of ${name} can no longer log in, and ${names.length === 1 ? "gets" : "get"} a mail: ${namedUpTo(MOST, names)}.`;
  const after = `Nobody of ${name} is created, enabled or extended until the company is resumed.`;
  return { effects: [losing, ...(status === "active" ? [after] : [])], host: [], users: names.length };
}
