/** Mail to the administrators whom it concerns. */

import { and, asc, inArray, isNotNull, or } from "drizzle-orm";
import type { AdminRole } from "../../shared/product/statuses.ts";
import { admins } from "../../store/schema-auth.ts";
import type { Letter } from "./letter.ts";
import { type Queueing, queueMails } from "./outbox.ts";

/** Topics of mails to administrators, and the roles that get each: those that can act on it, or have to know. */
const TOLD = {
  users: ["owner", "operator"],
  applications: ["owner", "operator", "reviewer"],
  audit: ["owner", "auditor"],
  policy: ["owner", "auditor"],
  webhooks: ["owner"],
  hosts: ["owner", "operator"],
} as const satisfies Readonly<Record<string, readonly AdminRole[]>>;

/** The topic of a mail, and the occasion; each administrator is told at most once for an occasion. */
export interface Telling {
  readonly about: keyof typeof TOLD;
  readonly occasion: string;
}

/** Queues the letter. Not for invited administrators: nothing has shown that the address is theirs. */
export async function tellAdministrators(op: Queueing, message: Letter, { about, occasion }: Telling): Promise<void> {
  const recipients = await op.tx
    .select({ id: admins.id, email: admins.email })
    .from(admins)
    .where(and(or(isNotNull(admins.passwordHash), admins.sso), inArray(admins.role, [...TOLD[about]])))
    .orderBy(asc(admins.id));
  const mails = recipients.map(({ id, email }) => ({ recipient: email, message, dedupeKey: `${occasion}:${id}` }));
  await queueMails(op, mails);
}
