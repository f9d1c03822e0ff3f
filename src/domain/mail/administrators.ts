/** Mail to every administrator. */

import { asc, isNotNull } from "drizzle-orm";
import { admins } from "../../store/schema-auth.ts";
import type { Letter } from "./letter.ts";
import { type Queueing, queueMails } from "./outbox.ts";

/**
 * Queues the letter for each administrator, at most once for an `occasion`. Not for one who is still invited: nothing has shown
 * that the address is theirs.
 */
export async function tellAdministrators(op: Queueing, message: Letter, occasion: string): Promise<void> {
  const recipients = await op.tx
    .select({ id: admins.id, email: admins.email })
    .from(admins)
    .where(isNotNull(admins.passwordHash))
    .orderBy(asc(admins.id));
  const mails = recipients.map(({ id, email }) => ({ recipient: email, message, dedupeKey: `${occasion}:${id}` }));
  await queueMails(op, mails);
}
