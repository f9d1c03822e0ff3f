/** What single sign-on needs of the provider of OpenID Connect; server/sso asks it over HTTP. */

import type { RoleRule } from "../../../shared/product/role-rules.ts";

/** What a provider says about somebody, as it came: of any shape. */
export type Claims = Readonly<Record<string, unknown>>;

/** Somebody whom the provider vouches for. */
export interface ProvenPerson {
  readonly subject: string;
  /** The provider's session; undefined where it names none. */
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

/** The provider's word that sessions ended: of one session, or of all that somebody has. */
export interface ProviderLogout {
  readonly id: string;
  readonly subject: string | undefined;
  readonly sid: string | undefined;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** The provider, and whom it may let in. Every failure is a UamError that holds nothing of what it answered. */
export interface SsoProvider {
  /** What people call it. */
  readonly name: string;
  readonly issuer: string;
  readonly rules: readonly RoleRule[];
  /** The address at the provider where the login goes on. */
  loginAddress(secrets: LoginSecrets): Promise<string>;
  /** Whom the parameters that the browser brought back prove; the code in them works once. */
  redeem(answer: URLSearchParams, secrets: LoginSecrets): Promise<ProvenPerson>;
  /** Throws `internal` unless it answers as it should, and is the issuer that it should be. */
  check(): Promise<void>;
  /** What a logout token says, once it is found to be the provider's and for this service. */
  readLogout(token: string): Promise<ProviderLogout>;
}
