/** Logins on their way to the provider and back: each comes back once, in time, and to the browser that began it. */

import { randomBytes } from "node:crypto";
import { and, eq, gt, lte } from "drizzle-orm";
import { UamError } from "../../../shared/errors.ts";
import { MINUTE, shift } from "../../../shared/time/clock.ts";
import { ssoLogins } from "../../../store/schema-sso.ts";
import { audited } from "../../operation/audited.ts";
import type { Context, Services } from "../../operation/context.ts";
import { hashToken } from "../sessions/sessions.ts";
import type { LoginSecrets, SsoProvider } from "./provider.ts";

/** How long somebody may take at the provider. */
export const LOGIN_TTL = 10 * MINUTE;

/** The state of the browser that begins a login, and the page it wants. */
export interface LoginRequest {
  /** The page that the login is to lead to. */
  readonly next: string;
  /** The secret that the browser keeps as a cookie. */
  readonly browser: string;
  /** The token of the session that the login is to replace, if any. */
  readonly replaces: string | undefined;
}

/** A login that came back. */
export interface ReturnedLogin extends LoginSecrets {
  readonly next: string;
  readonly replacesHash: Uint8Array | null;
}

/**
 * Notes a login and returns the provider's address to go on at. Throws `internal` while the provider is away, which is recorded.
 */
export function beginLogin(context: Context, provider: SsoProvider, beginning: LoginRequest): Promise<string> {
  const secrets = { state: newSecret(), nonce: newSecret(), verifier: newSecret() };
  const { next, browser, replaces } = beginning;
  return audited(
    context,
    { action: "auth.admin_login", detail: { way: "oidc", issuer: provider.issuer } },
    {
      prepare: () => provider.loginAddress(secrets),
      run: async (op, address) => {
        await op.tx.insert(ssoLogins).values({
          stateHash: hashToken(secrets.state),
          browserHash: hashToken(browser),
          nonce: secrets.nonce,
          verifier: secrets.verifier,
          next,
          replacesHash: replaces === undefined ? null : hashToken(replaces),
          expiresAt: shift(context.clock.now(), LOGIN_TTL),
        });
        // The end of the login is recorded instead.
        op.record({ unneeded: true });
        return address;
      },
    },
  );
}

/**
 * Takes the login with that state, which is then used up even if it fails. Throws `unauthorized` if there is none, it came too late, or
 * another browser began it.
 */
export async function takeLogin(context: Context, state: string, browser: string | undefined): Promise<ReturnedLogin> {
  if (browser === undefined) throw notBegun();
  const [row] = await context.autocommit
    .delete(ssoLogins)
    .where(
      and(
        eq(ssoLogins.stateHash, hashToken(state)),
        eq(ssoLogins.browserHash, hashToken(browser)),
        gt(ssoLogins.expiresAt, context.clock.now()),
      ),
    )
    .returning();
  if (row === undefined) throw notBegun();
  const { nonce, verifier, next, replacesHash } = row;
  return { state, nonce, verifier, next, replacesHash };
}

/** Removes logins that never came back. */
export async function purgeLogins({ db, clock }: Pick<Services, "db" | "clock">): Promise<void> {
  await db.delete(ssoLogins).where(lte(ssoLogins.expiresAt, clock.now()));
}

/** 256 random bits. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

function notBegun(): UamError {
  const sentence = "This login was used, took too long, or was begun in another browser; begin again";
  return new UamError("unauthorized", sentence, { reason: "sso.expired" });
}
