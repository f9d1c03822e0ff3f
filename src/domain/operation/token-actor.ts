/** Operations that a machine's token asks for. */

import { and, eq, gt, isNull } from "drizzle-orm";
import { UamError } from "../../shared/errors.ts";
import type { Transaction } from "../../store/client.ts";
import { admins, tokens } from "../../store/schema-auth.ts";
import type { Context } from "./context.ts";

/**
 * Throws `unauthorized` if the caller is a token that was revoked or has ended since the request came: a body can take minutes to
 * arrive. Not under a lock: a revocation must not wait for what its token does, however long that takes.
 */
export async function requireLiveToken(tx: Transaction, { actor, clock }: Pick<Context, "actor" | "clock">) {
  if (actor.tokenId === undefined) return;
  const [live] = await tx
    .select({ id: tokens.id })
    .from(tokens)
    .innerJoin(admins, eq(admins.id, tokens.ownerId))
    .where(and(eq(tokens.id, actor.tokenId), isNull(tokens.revokedAt), gt(tokens.expiresAt, clock.now())));
  if (live === undefined) {
    throw new UamError("unauthorized", "The token was revoked, or has ended, since the request came", {
      reason: "token.revoked",
    });
  }
}
