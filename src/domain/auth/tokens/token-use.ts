/** Tokens in use: finds the owner of a request's token, and notes the use. */

import { and, eq, isNull, lte, or, sql } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { allowedBy, hasAddress } from "../../../shared/net/networks.ts";
import { includesRole } from "../../../shared/product/role-order.ts";
import type { AdminRole } from "../../../shared/product/statuses.ts";
import { MINUTE, shift } from "../../../shared/time/clock.ts";
import { gathered } from "../../../shared/work/batch-loader.ts";
import { isAnyOf } from "../../../store/conditions.ts";
import { admins, tokens } from "../../../store/schema-auth.ts";
import type { Services } from "../../operation/context.ts";
import { byteaArray, hashToken, hexOf, type Principal, type UsedToken } from "../sessions/sessions.ts";
import { originOf } from "./made-tokens.ts";
import { isTokenShaped } from "./token-format.ts";
import { networksOf } from "./tokens.ts";

/** The last use is stored at most this often. */
const USE_PERIOD = MINUTE;

/**
 * Finds the owner of a token by its hash, and notes its use. Undefined for an unknown token. Throws `unauthorized` for a token that is
 * revoked, has ended, or may not be used from this address.
 */
export type TokenFinder = (token: string, address: string) => Promise<Principal | undefined>;

/**
 * A finder; nothing is cached, so that a revocation, or another role of the owner's, takes effect with the next request.
 */
export function createTokenFinder(services: Pick<Services, "autocommit" | "clock" | "log">): TokenFinder {
  const query = services.autocommit
    .select({ token: tokens, origin: originOf(), email: admins.email, username: admins.username, present: admins.role })
    .from(tokens)
    .leftJoin(admins, eq(admins.id, tokens.ownerId))
    .where(isAnyOf(tokens.tokenHash, "bytea[]", sql`${sql.placeholder("hashes")}`))
    .prepare("find_tokens");
  const find = gathered(
    async (hashes: readonly string[]) => await query.execute({ hashes: byteaArray(hashes) }),
    ({ token }) => hexOf(token.tokenHash),
  );
  return async (text, address) => {
    if (!isTokenShaped(text)) return undefined;
    const [row] = await find(hexOf(hashToken(text)));
    if (row === undefined) return undefined;
    const { token, origin, email, username, present } = row;
    const now = services.clock.now();
    // The caller has the token itself, so they may know its status.
    if (token.revokedAt !== null || email === null || username === null || present === null) {
      throw refusal("The token was revoked", "token.revoked");
    }
    if (token.expiresAt <= now) throw refusal("The token has ended; make another one", "token.expired");
    const networks = networksOf(token.networks);
    if (!hasAddress(allowedBy(networks), address)) {
      const { id, name, prefix, owner } = token;
      services.log.warn("a token was used from outside its networks", { token: id, name, prefix, owner, address });
      throw refusal(`The token may not be used from ${address}`, "token.network");
    }
    await noteUse(services, token, { now, address });
    const { id, name, expiresAt } = token;
    const used = { id, name, origin, expiresAt, networks };
    return { userType: "admin", id: token.ownerId, username, email, ...rolesOf(used, token.role, present) };
  };
}

/** The lesser of the two; if neither includes the other, the token's, within the owner's. */
function rolesOf(used: UsedToken, own: AdminRole, present: AdminRole): Pick<Principal, "role" | "token"> {
  if (includesRole(present, own)) return { role: own, token: used };
  if (includesRole(own, present)) return { role: present, token: used };
  return { role: own, token: { ...used, within: present } };
}

/** The request goes on if this cannot be written: a full disk must not keep monitoring out. */
async function noteUse(
  { autocommit, log }: Pick<Services, "autocommit" | "log">,
  { id, lastUsedAt, lastUsedFrom }: typeof tokens.$inferSelect,
  { now, address }: { readonly now: Date; readonly address: string },
): Promise<void> {
  const before = shift(now, -USE_PERIOD);
  if (lastUsedAt !== null && lastUsedAt > before) return;
  // Of requests at the same instant one writes.
  const isDue = or(isNull(tokens.lastUsedAt), lte(tokens.lastUsedAt, before));
  try {
    await autocommit
      .update(tokens)
      .set({ lastUsedAt: now, ...(address === lastUsedFrom ? {} : { lastUsedFrom: address }) })
      .where(and(eq(tokens.id, id), isDue));
  } catch (error) {
    log.warn("the use of a token could not be stored", { token: id, error });
  }
}

function refusal(sentence: string, reason: "token.revoked" | "token.expired" | "token.network"): UamError {
  return new UamError("unauthorized", sentence, { reason });
}
