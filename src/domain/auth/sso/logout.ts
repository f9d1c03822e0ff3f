/** The provider's word that somebody logged out there (OpenID Connect Back-Channel Logout 1.0): their sessions here end as well. */

import { createHash } from "node:crypto";
import { and, eq, inArray, lte } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { shift } from "../../../shared/time/clock.ts";
import { sessions } from "../../../store/schema-auth.ts";
import { ssoLogouts, ssoSessions } from "../../../store/schema-sso.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Services } from "../../operation/context.ts";
import { lockSingleSignOn } from "./login.ts";
import { LOGIN_TTL } from "./login-requests.ts";
import type { ProviderLogout, SsoProvider } from "./provider.ts";

/**
 * Ends the sessions that the logout is about: those of one session at the provider, or of all that its subject has. Returns how many; a
 * login that is under way meanwhile is refused. Throws `invalid` for a token that was used.
 */
export function endProviderSessions(context: Context, provider: SsoProvider, logout: ProviderLogout): Promise<number> {
  const { issuer } = provider;
  const { id, subject, sid, issuedAt } = logout;
  const about = { way: "oidc", issuer, ...(subject === undefined ? {} : { subject }) };
  return audited(context, { action: "auth.sso_logout", detail: about }, async (op) => {
    await lockSingleSignOn(op.tx);
    const tokenHash = createHash("sha256")
      .update(JSON.stringify([issuer, id]))
      .digest();
    const soonest = shift(context.clock.now(), 2 * LOGIN_TTL);
    const expiresAt = logout.expiresAt > soonest ? logout.expiresAt : soonest;
    const [noted] = await op.tx
      .insert(ssoLogouts)
      .values({ tokenHash, issuer, subject: subject ?? null, sid: sid ?? null, issuedAt, expiresAt })
      .onConflictDoNothing()
      .returning({ issuer: ssoLogouts.issuer });
    if (noted === undefined) {
      throw new UamError("invalid", "This logout token was used before", { reason: "sso.invalid" });
    }
    const ofPerson = subject === undefined ? undefined : eq(ssoSessions.subject, subject);
    const ofSession = sid === undefined ? undefined : eq(ssoSessions.sid, sid);
    const meant = op.tx
      .select({ tokenHash: ssoSessions.tokenHash })
      .from(ssoSessions)
      .where(and(eq(ssoSessions.issuer, issuer), ofPerson, ofSession));
    const ended = await op.tx
      .delete(sessions)
      .where(inArray(sessions.tokenHash, meant))
      .returning({ username: sessions.username });
    const usernames = [...new Set(ended.map(({ username }) => username))].join(", ");
    if (ended.length === 0) op.record({ unneeded: true });
    else op.record({ detail: { username: usernames, sessions: ended.length } });
    return ended.length;
  });
}

/** Removes logouts once no login can follow them. */
export async function purgeLogouts({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  await db.delete(ssoLogouts).where(lte(ssoLogouts.expiresAt, clock.now()));
}
