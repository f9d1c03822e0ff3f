/**
 * What the service hands out under a seal and takes back once, within minutes: the challenges that passkeys sign, and the secret of an
 * authenticator app until it is confirmed. Handing one out stores nothing, so that no number of anonymous requests fills a disk.
 */

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { lte } from "drizzle-orm";
import { MINUTE, shift } from "../../shared/clock.ts";
import type { Transaction } from "../../store/client.ts";
import { usedTickets } from "../../store/schema-passkeys.ts";
import type { Services } from "../operation/context.ts";
import { sharedSecret } from "./secrets.ts";

/** How long a ticket may be used. */
export const TICKET_TTL = 5 * MINUTE;

/** What a ticket is for, and whose: one that is presented for anything else, or by anybody else, cannot be opened. */
export interface Binding {
  readonly purpose: "add-passkey" | "login" | "second-factor" | "confirm" | "add-totp";
  /** Whose it is, and in which session; "" where nobody is known yet. */
  readonly holder: string;
}

/** A ticket that was opened: it is ours, not older than it may be, and for this purpose and holder. */
export interface Ticket {
  readonly id: string;
  readonly payload: string;
  readonly expiresAt: Date;
}

type Sealing = Pick<Services, "autocommit" | "clock">;

const NONCE = 12;
const TAG = 16;
const ID = 16;
const EXPIRY = 8;
const LONGEST_PAYLOAD = 256;
const LONGEST = Math.ceil(((NONCE + ID + EXPIRY + LONGEST_PAYLOAD + TAG) * 4) / 3);

/** A ticket that nobody else can make, read or change: AES-256-GCM over a random id, the expiry and the payload. Base64url. */
export async function issueTicket(context: Sealing, binding: Binding, payload = ""): Promise<string> {
  const nonce = randomBytes(NONCE);
  const expiry = Buffer.alloc(EXPIRY);
  expiry.writeBigUInt64BE(BigInt(shift(context.clock.now(), TICKET_TTL).getTime()));
  const cipher = createCipheriv("aes-256-gcm", await sharedSecret(context, "ticket"), nonce, { authTagLength: TAG });
  cipher.setAAD(boundTo(binding));
  const sealed = [cipher.update(Buffer.concat([randomBytes(ID), expiry, Buffer.from(payload)])), cipher.final()];
  return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString("base64url");
}

/** The ticket, or undefined if it was not issued here for that, was changed, or has expired. Whether it was used, `useTicket` tells. */
export async function openTicket(context: Sealing, binding: Binding, text: string): Promise<Ticket | undefined> {
  if (text.length > LONGEST) return undefined;
  const bytes = Buffer.from(text, "base64url");
  // Decoding skips what is not base64url; only the exact text that was issued may be opened.
  if (bytes.length < NONCE + ID + EXPIRY + TAG || bytes.toString("base64url") !== text) return undefined;
  const key = await sharedSecret(context, "ticket");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAAD(boundTo(binding));
  decipher.setAuthTag(bytes.subarray(-TAG));
  let plain: Buffer;
  try {
    plain = Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]);
  } catch {
    // The tag does not match: not sealed with this key or for this, or changed since. There is nothing to report.
    return undefined;
  }
  const expiresAt = new Date(Number(plain.readBigUInt64BE(ID)));
  if (context.clock.now() >= expiresAt) return undefined;
  return { id: plain.toString("hex", 0, ID), payload: plain.toString("utf8", ID + EXPIRY), expiresAt };
}

/** Uses the ticket up; false if it was used before. Of any number of simultaneous uses one gets true, if its transaction commits. */
export async function useTicket(tx: Transaction, { id, expiresAt }: Ticket): Promise<boolean> {
  const used = await tx.insert(usedTickets).values({ id, expiresAt }).onConflictDoNothing().returning();
  return used.length > 0;
}

/** Forgets used tickets that have expired: nobody can use them any more. */
export async function purgeTickets({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  await db.delete(usedTickets).where(lte(usedTickets.expiresAt, clock.now()));
}

function boundTo({ purpose, holder }: Binding): Buffer {
  return Buffer.from(`${purpose}\n${holder}`);
}
