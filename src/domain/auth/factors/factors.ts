/** The second factors of administrators. */

import { count, eq, inArray } from "drizzle-orm";
import type { Database, Transaction } from "../../../store/client.ts";
import type { AdminRow } from "../../../store/schema-auth.ts";
import { passkeys, totpSecrets } from "../../../store/schema-passkeys.ts";
import type { factorsAdded } from "../../mail/factor-messages.ts";
import { queueMail } from "../../mail/outbox.ts";
import type { Operation } from "../../operation/context.ts";
import { nameForPeople } from "../../operation/entry.ts";
import type { Factors } from "../required-factors.ts";

/** The factors of these administrators, by their ids; every id has an entry. */
export async function factorsOf(
  db: Database | Transaction,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Factors>> {
  if (ids.length === 0) return new Map();
  const counted = await db
    .select({ id: passkeys.adminId, passkeys: count() })
    .from(passkeys)
    .where(inArray(passkeys.adminId, [...ids]))
    .groupBy(passkeys.adminId);
  const apps = await db
    .select({ id: totpSecrets.adminId })
    .from(totpSecrets)
    .where(inArray(totpSecrets.adminId, [...ids]));
  return new Map(
    ids.map((id) => [
      id,
      { passkeys: counted.find((one) => one.id === id)?.passkeys ?? 0, totp: apps.some((one) => one.id === id) },
    ]),
  );
}

/** The factors of one administrator. */
export async function readFactors(db: Database | Transaction, id: number): Promise<Factors> {
  const [row] = await db.select({ passkeys: count() }).from(passkeys).where(eq(passkeys.adminId, id));
  const apps = await db.select({ id: totpSecrets.adminId }).from(totpSecrets).where(eq(totpSecrets.adminId, id));
  return { passkeys: row?.passkeys ?? 0, totp: apps.length > 0 };
}

/** Mails an administrator about a change of their login factors. */
export async function tellOwner(
  op: Operation,
  { username, email }: AdminRow,
  letter: typeof factorsAdded,
  names: readonly string[],
): Promise<void> {
  const { clock, policy, actor } = op.context;
  const change = { username, names, at: clock.now(), by: nameForPeople(actor), from: actor.ip };
  await queueMail(op, { recipient: email, message: letter(policy.site, change) });
}
