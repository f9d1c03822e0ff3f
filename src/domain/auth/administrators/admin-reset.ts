/** Forgotten administrator passwords: a token by mail, which is exchanged for a new password. */

import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { and, eq, gt, lte, sql } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { MINUTE, shift } from "../../../shared/time/clock.ts";
import { type AdminRow, admins, resetTokens } from "../../../store/schema-auth.ts";
import { parseTypedAdminName } from "../../accounts/username.ts";
import { adminReset } from "../../mail/messages.ts";
import { queueMail } from "../../mail/outbox.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Operation, Services } from "../../operation/context.ts";
import { startCooldown } from "../codes/attempts.ts";
import { unlock } from "../factors/password.ts";
import { findAdmin } from "../find-administrator.ts";
import { endSessionsOf, hashToken } from "../sessions/sessions.ts";
import { voidJoinLines } from "../tokens/join-lines.ts";
import { revokeTokensOf } from "../tokens/tokens.ts";
import { checkPassword } from "./passwords.ts";

/** How long a reset token is valid. */
export const RESET_TTL = 30 * MINUTE;
/** The least time between two reset mails for one username. */
const COOLDOWN = MINUTE;

/**
 * A request for a token takes at least this many milliseconds: storing a token is a tenth more work than storing none,
 * and nothing slow here would hide the difference.
 */
const SHORTEST = 100;

/**
 * Creates a reset token, which voids the one before, and queues the mail with it. The result and its timing are the same for an unknown name,
 * for an invitation that is still valid, and within a minute of the last mail for a name; only the audit record shows the difference.
 */
export async function forgotPassword(context: Context, typedName: string): Promise<void> {
  const username = parseTypedAdminName(typedName);
  await Promise.all([sendToken(context, username), setTimeout(SHORTEST)]);
}

/**
 * Sets a new password for the administrator of the token, ends all their sessions, revokes the tokens that machines use in their name, voids their lines for
 * joining hosts, and lifts a lock. The token works once, and is kept if the password is refused. Throws `invalid` for a bad, used or expired token and for a
 * bad password.
 */
export async function resetPassword(context: Context, token: string, newPassword: string): Promise<void> {
  const owner = await findOwner(context, token);
  const actor = {
    ...context.actor,
    ...(owner === undefined ? {} : ({ type: "admin", name: owner.username } as const)),
  };
  return await audited(
    { ...context, actor },
    { action: "auth.admin_reset" },
    {
      prepare: async () => {
        if (owner === undefined) throw badToken();
        checkPassword(newPassword, owner.username);
        return { owner, passwordHash: await context.hasher.hash(newPassword) };
      },
      run: async (op, prepared) => {
        await unlock(op.tx, prepared.owner.username);
        // Locks the administrator before the token, as every other change does, which rules out deadlocks.
        await op.tx.select({ id: admins.id }).from(admins).where(eq(admins.id, prepared.owner.id)).for("update");
        await useToken(op, token, prepared.owner);
        const changes = { passwordHash: prepared.passwordHash, updatedAt: context.clock.now() };
        await op.tx.update(admins).set(changes).where(eq(admins.id, prepared.owner.id));
        await endSessionsOf(op.tx, "admin", prepared.owner.id);
        await voidJoinLines(op, prepared.owner.id);
        await revokeTokensOf(op, prepared.owner);
      },
    },
  );
}

/** Deletes tokens that have expired. */
export async function purgeResetTokens({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  await db.delete(resetTokens).where(lte(resetTokens.expiresAt, clock.now()));
}

function sendToken(context: Context, username: string): Promise<void> {
  return audited(context, { action: "auth.admin_forgot" }, async (op) => {
    const token = randomBytes(32).toString("base64url");
    const expiresAt = shift(context.clock.now(), RESET_TTL);
    const now = context.clock.now();
    // The cooldown is kept for unknown names as well.
    const isDue = await startCooldown(op.tx, { kind: "password", cooldown: COOLDOWN }, { username, now });
    const { admin, known } = await storeToken(op, { username, token, expiresAt, isDue });
    await queueMail(op, {
      recipient: admin?.email ?? "",
      message: adminReset(context.policy.site, { username, token, ttl: RESET_TTL }),
      expiresAt,
      // A decoy row costs as much as a real one, so that the time taken reveals nothing either.
      decoy: admin === undefined,
    });
    // An unknown name may be a password in the wrong field, so it is not recorded.
    if (known !== undefined) op.record({ detail: { username } });
    if (admin === undefined) op.record({ refused: whyNot(known, isDue) });
  });
}

interface MadeToken {
  readonly username: string;
  readonly token: string;
  readonly expiresAt: Date;
  readonly isDue: boolean;
}

function whyNot(known: AdminRow | undefined, isDue: boolean): string {
  if (!isDue) return "A reset mail for that name was sent less than a minute ago";
  if (known === undefined) return "There is no administrator with that name";
  return known.sso ? "They come in by single sign-on" : "The invitation that they were mailed is still valid";
}

interface StoredToken {
  /** The administrator with the stored token; undefined if none was stored. */
  readonly admin?: AdminRow;
  readonly known: AdminRow | undefined;
}

/**
 * Stores the token and returns its administrator; one statement whether or not there is such an administrator. Stores none for an administrator
 * of single sign-on: a person with access to the mailbox that the provider named must not get around the provider. An invitation is valid for
 * longer than a token, and only owners take it back: it gives way once it has expired.
 */
async function storeToken(op: Operation, { username, token, expiresAt, isDue }: MadeToken): Promise<StoredToken> {
  const now = op.context.clock.now().toISOString();
  const [stored] = await op.tx.execute<{ admin_id: string }>(sql`
    insert into reset_tokens (admin_id, token_hash, expires_at)
    select id, ${hashToken(token)}, ${expiresAt.toISOString()}::timestamptz from admins
    where username = ${username} and not sso and ${isDue}
    on conflict (admin_id) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at
    where reset_tokens.expires_at <= ${now}::timestamptz
      or exists (select 1 from admins a where a.id = excluded.admin_id and a.password_hash is not null)
    returning admin_id`);
  const known = await findAdmin(op.tx, username);
  return { known, ...(stored === undefined || known === undefined ? {} : { admin: known }) };
}

async function findOwner(context: Context, token: string): Promise<AdminRow | undefined> {
  const [row] = await context.autocommit
    .select({ admin: admins })
    .from(resetTokens)
    .innerJoin(admins, eq(admins.id, resetTokens.adminId))
    .where(and(eq(resetTokens.tokenHash, hashToken(token)), gt(resetTokens.expiresAt, context.clock.now())))
    .prepare("find_reset_token")
    .execute();
  return row?.admin;
}

/** Uses the token up; of several simultaneous resets with it one wins. */
async function useToken(op: Operation, token: string, owner: AdminRow): Promise<void> {
  const [used] = await op.tx
    .delete(resetTokens)
    .where(
      and(
        eq(resetTokens.adminId, owner.id),
        eq(resetTokens.tokenHash, hashToken(token)),
        gt(resetTokens.expiresAt, op.context.clock.now()),
      ),
    )
    .returning({ adminId: resetTokens.adminId });
  if (used === undefined) throw badToken();
}

function badToken(): UamError {
  const sentence = "The reset token is wrong, used or expired; ask for a new one at /auth/admin/forgot";
  return new UamError("invalid", sentence, { reason: "reset.wrong" });
}
