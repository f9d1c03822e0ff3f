/** The use of a passkey: its answer is verified first, and then, with its row locked, counted. */

import { createHmac } from "node:crypto";
import { eq } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { type AdminRow, admins } from "../../../store/schema-auth.ts";
import { type PasskeyRow, passkeys } from "../../../store/schema-passkeys.ts";
import { counterWentBack } from "../../mail/factor-messages.ts";
import { queueMail } from "../../mail/outbox.ts";
import type { Context, Operation } from "../../operation/context.ts";
import { type Binding, issueTicket, openTicket, useTicket } from "../codes/tickets.ts";
import type { SealedTicket } from "../sealed.ts";
import { sharedSecret } from "../secrets.ts";
import { type Assertion, challengeOf, type PasskeyAnswer, requestOptions, verifyPasskey } from "./webauthn.ts";

/** A passkey with a right answer, as far as can be told without its row's lock. */
export interface CheckedPasskey {
  readonly passkey: PasskeyRow;
  readonly ticket: SealedTicket;
  readonly assertion: Assertion;
}

/** A passkey and its administrator. */
export interface FoundPasskey {
  readonly passkey: PasskeyRow;
  readonly username: string;
}

/** The binding of a login, for the passkey of any administrator. */
export const ANYBODY: Binding = { purpose: "login", holder: "" };

/** The binding of a challenge that only that administrator's passkeys may answer. */
export function boundTo(purpose: Binding["purpose"], { id }: Pick<AdminRow, "id">, session = ""): Binding {
  return { purpose, holder: `${id} ${session}` };
}

/** The browser's options for a passkey of that administrator; null without a passkey. */
export async function askForPasskey(context: Context, binding: Binding, { id }: Pick<AdminRow, "id">) {
  const known = await context.autocommit.select().from(passkeys).where(eq(passkeys.adminId, id)).orderBy(passkeys.id);
  if (known.length === 0) return null;
  return requestOptions(context.policy.site, await issueTicket(context, binding), known);
}

/** The browser's options for anybody's passkey. Stores nothing. */
export async function askForAnyPasskey(context: Context) {
  return requestOptions(context.policy.site, await issueTicket(context, ANYBODY));
}

/** The stored passkey that the answer names. */
export async function findPasskey(
  { autocommit }: Pick<Context, "autocommit">,
  { id }: PasskeyAnswer,
): Promise<FoundPasskey | undefined> {
  const [row] = await autocommit
    .select({ passkey: passkeys, username: admins.username })
    .from(passkeys)
    .innerJoin(admins, eq(admins.id, passkeys.adminId))
    .where(eq(passkeys.credentialId, id));
  return row;
}

/**
 * The passkey if the answer is from it, to a fresh challenge issued for that binding, from this origin, by an authenticator that verified
 * its user; else undefined. An unknown passkey takes as long as a known one.
 */
export async function checkPasskey(
  context: Context,
  binding: Binding,
  answer: PasskeyAnswer,
  found: FoundPasskey | undefined,
): Promise<CheckedPasskey | undefined> {
  const challenge = challengeOf(answer);
  const ticket = await openTicket(context, binding, challenge);
  if (ticket === undefined) return undefined;
  const passkey = found?.passkey;
  const assertion = await verifyPasskey(context, answer, passkey ?? nobodysPasskey(answer), challenge);
  const isWhole = await isHandleRight(context, answer, passkey, binding);
  if (assertion === undefined || passkey === undefined || !isWhole) return undefined;
  return { passkey, ticket, assertion };
}

/**
 * Uses the challenge up and notes the use. The caller holds the row lock of the passkey's administrator. Throws for a challenge that was
 * used before and for a passkey that was removed meanwhile. Returns false if the counter went back, which means that the passkey may have
 * been copied: the operation must commit and refuse, because it is recorded and mailed.
 */
export async function usePasskey(op: Operation, admin: AdminRow, checked: CheckedPasskey): Promise<boolean> {
  const { ticket, assertion } = checked;
  const [passkey] = await op.tx.select().from(passkeys).where(eq(passkeys.id, checked.passkey.id)).for("update");
  if (passkey?.adminId !== admin.id || !(await useTicket(op.tx, ticket))) throw passkeyRefused();
  const { clock, policy, actor } = op.context;
  const now = clock.now();
  const { counter, backedUp } = assertion;
  if ((counter > 0 || passkey.counter > 0) && counter <= passkey.counter) {
    op.record({
      refused: `The counter of the passkey went back from ${passkey.counter} to ${counter}: there are two of it`,
    });
    const message = counterWentBack(policy.site, {
      ...{ username: admin.username, name: passkey.name, at: now, from: actor.ip },
    });
    await queueMail(op, { recipient: admin.email, message });
    return false;
  }
  await op.tx.update(passkeys).set({ counter, backedUp, lastUsedAt: now }).where(eq(passkeys.id, passkey.id));
  return true;
}

/** The answer to every passkey that is not accepted: it does not reveal whether there is such a passkey. */
export function passkeyRefused(): UamError {
  return new UamError("unauthorized", "The passkey was not accepted; try again, or log in another way", {
    reason: "login.passkey_wrong",
  });
}

/**
 * The handle by which authenticators know the administrator: without their name, the same for all of their passkeys, and different in
 * every installation.
 */
export async function handleOf(context: Pick<Context, "autocommit">, adminId: number): Promise<Uint8Array> {
  return createHmac("sha256", await sharedSecret(context, "handle"))
    .update(`administrator ${adminId}`)
    .digest();
}

/** If nobody was named before, the authenticator has to name its owner; if it names one, it must be the passkey's. */
async function isHandleRight(
  context: Context,
  { response }: PasskeyAnswer,
  passkey: PasskeyRow | undefined,
  { purpose }: Binding,
): Promise<boolean> {
  const handle = Buffer.from(await handleOf(context, passkey?.adminId ?? 0)).toString("base64url");
  const { userHandle } = response;
  if (userHandle === undefined || userHandle === null || userHandle === "") return purpose !== "login";
  return userHandle === handle;
}

/** A public key with a private half that nobody has: a point of P-256 that was made and forgotten. */
const NO_KEY = Buffer.from(
  "pQECAyYgASFYIFQi0erQukFNSpDGb7l82OuNxFBb_UsyaGEr6nBytypQIlggnBPsau9l2CdCtOz7AnhX3962vB5kohBBL7f9MwRG2Hs",
  "base64url",
);

function nobodysPasskey({ id }: PasskeyAnswer): Pick<PasskeyRow, "credentialId" | "publicKey"> {
  return { credentialId: id, publicKey: NO_KEY };
}
