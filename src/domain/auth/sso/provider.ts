/** The provider of OpenID Connect, as single sign-on needs it; server/sso asks it over HTTP. */

import type { RoleRule } from "../../../shared/product/role-rules.ts";

/** The provider's claims about a person, as received: of any shape. */
export type Claims = Readonly<Record<string, unknown>>;

/** Somebody whom the provider vouches for. */
export interface ProvenPerson {
  readonly subject: string;
  /** The provider's session; undefined if it names none. */
  readonly sid: string | undefined;
  /** When it vouched. */
  readonly issuedAt: Date;
  readonly claims: Claims;
}

/** A login on its way: secrets of this one only. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  /** PKCE's code verifier (RFC 7636). */
  readonly verifier: string;
}

/** The provider's word that sessions ended: one session, or all of a person's. */
export interface ProviderLogout {
  readonly id: string;
  readonly subject: string | undefined;
  readonly sid: string | undefined;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/**
 * The provider, and the people it may let in. Every failure is a UamError without any text of the provider's answer.
 */
export interface SsoProvider {
  /** The name for people. */
  readonly name: string;
  readonly issuer: string;
  readonly rules: readonly RoleRule[];
  /** The address at the provider where the login goes on. */
  loginAddress(secrets: LoginSecrets): Promise<string>;
  /** The person that the browser's parameters prove; the code in them works once. */
  redeem(answer: URLSearchParams, secrets: LoginSecrets): Promise<ProvenPerson>;
  /** Throws `internal` unless it answers as it should, and is the expected issuer. */
  check(): Promise<void>;
  /** The content of a logout token, after checking that the provider issued it for this service. */
  readLogout(token: string): Promise<ProviderLogout>;
}
