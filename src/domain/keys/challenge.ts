/** Challenges that a security key signs when it makes a key: proof that the key was made for this user, and not before. */

import { randomBytes } from "node:crypto";
import { UamError } from "../../shared/errors.ts";
import { MINUTE, shift } from "../../shared/time/clock.ts";
import type { Transaction } from "../../store/client.ts";
import { type Binding, issueTicket, openTicket, useTicket } from "../auth/codes/tickets.ts";
import type { Services } from "../operation/context.ts";

type Issuing = Pick<Services, "autocommit" | "clock">;

/** The bytes of the file that ssh-keygen is given, and until when a key that signed it is taken. */
export interface Challenge {
  readonly bytes: Buffer;
  readonly expiresAt: Date;
}

/** Enough to fetch a security key, set its PIN and run ssh-keygen. */
const TTL = 30 * MINUTE;
/** Besides the nonce and the id of the ticket. */
const RANDOM_BYTES = 32;

/** A challenge for the user alone. Nothing is stored: it is a ticket. */
export async function issueChallenge(context: Issuing, userId: number): Promise<Challenge> {
  const expiresAt = shift(context.clock.now(), TTL);
  const ticket = await issueTicket(context, bindingOf(userId), randomBytes(RANDOM_BYTES).toString("base64"), expiresAt);
  return { bytes: Buffer.from(ticket, "base64url"), expiresAt };
}

/** Uses a challenge up with the operation that it is for. Throws `invalid` for one that is not the user's, was used, or has expired. */
export async function useChallenge(
  { context, tx }: { readonly context: Issuing; readonly tx: Transaction },
  userId: number,
  bytes: Buffer,
): Promise<void> {
  const ticket = await openTicket(context, bindingOf(userId), bytes.toString("base64url"));
  if (ticket !== undefined && (await useTicket(tx, ticket))) return;
  const sentence =
    "The challenge is not one that was made for you in the last 30 minutes, or it was used: get a new one, and make the key again";
  throw new UamError("invalid", sentence, { reason: "key.challenge" });
}

function bindingOf(userId: number): Binding {
  return { purpose: "attest-key", holder: String(userId) };
}
