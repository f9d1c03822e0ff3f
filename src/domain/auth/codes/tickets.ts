/**
 * Tickets, which the service hands out under a seal and takes back once, within minutes: the challenges that passkeys and security keys sign,
 * and the secret of an authenticator app until it is confirmed. Handing one out stores nothing, so that anonymous requests cannot fill a disk.
 */

import { lte } from "drizzle-orm";
import { MINUTE, shift } from "../../../shared/time/clock.ts";
import type { Transaction } from "../../../store/client.ts";
import { usedTickets } from "../../../store/schema-passkeys.ts";
import type { Services } from "../../operation/context.ts";
import { type SealedTicket, type Sealing, sealTicket, unsealTicket } from "../sealed.ts";
import { sharedSecret } from "../secrets.ts";

/** How long a ticket may be used, unless it says otherwise. */
export const TICKET_TTL = 5 * MINUTE;

/** The purpose and the holder of a ticket: it cannot be opened for another purpose, or by anybody else. */
export interface Binding {
  readonly purpose: "add-passkey" | "login" | "second-factor" | "confirm" | "add-totp" | "attest-key";
  /** The holder and the session; "" if nobody is known yet. */
  readonly holder: string;
}

type Issuing = Pick<Services, "autocommit" | "clock">;

/** A ticket that nobody else can make, read or change. */
export async function issueTicket(
  context: Issuing,
  binding: Binding,
  payload = "",
  expiresAt = shift(context.clock.now(), TICKET_TTL),
): Promise<string> {
  return sealTicket(await sealingFor(context, binding), { payload, expiresAt });
}

/**
 * The ticket, or undefined if it was not issued here for that purpose, was changed, or has expired. `useTicket` checks whether it was
 * used.
 */
export async function openTicket(context: Issuing, binding: Binding, text: string): Promise<SealedTicket | undefined> {
  return unsealTicket(await sealingFor(context, binding), text, context.clock.now());
}

/** Uses the ticket up; false if it was used before. Of several simultaneous uses one gets true, if its transaction commits. */
export async function useTicket(tx: Transaction, { id, expiresAt }: SealedTicket): Promise<boolean> {
  const used = await tx.insert(usedTickets).values({ id, expiresAt }).onConflictDoNothing().returning();
  return used.length > 0;
}

/** Deletes used tickets that have expired: nobody can use them again. */
export async function purgeTickets({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  await db.delete(usedTickets).where(lte(usedTickets.expiresAt, clock.now()));
}

async function sealingFor(context: Issuing, { purpose, holder }: Binding): Promise<Sealing> {
  return { key: await sharedSecret(context, "ticket"), purpose: `${purpose}\n${holder}` };
}
