/** Failures of the provider, as sentences without any text that it sent: that may be anybody's. */

import { errors as jose } from "jose";
import * as oidc from "openid-client";
import { UamError } from "../../shared/errors.ts";

/** The refusal for whoever asked, and what the log says. */
export interface Failed {
  readonly refusal: UamError;
  readonly what: string;
}

/** An answer of the provider's that proves nobody; `what` is for the log. */
export function invalid(what: string): UamError {
  const sentence = "What the provider of single sign-on sent does not prove who it is";
  return new UamError("unauthorized", sentence, { reason: "sso.invalid", cause: new Error(what) });
}

/** A provider that does not answer, or not as it should. */
export function unavailable(what: string, cause?: unknown): UamError {
  const sentence = "The provider of single sign-on does not answer as it should; try again, or log in another way";
  return new UamError("internal", sentence, { reason: "sso.unavailable", cause: new Error(what, { cause }) });
}

/** The codes of errors about what was sent, rather than about the sending. */
const INVALID: ReadonlySet<string> = new Set([
  "OAUTH_INVALID_RESPONSE",
  "OAUTH_JWT_CLAIM_COMPARISON_FAILED",
  "OAUTH_JWT_TIMESTAMP_CHECK_FAILED",
  "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED",
  "OAUTH_KEY_SELECTION_FAILED",
  "OAUTH_UNSUPPORTED_OPERATION",
]);

/** Sorts what asking the provider threw. */
export function refusalOf(error: unknown): Failed {
  if (error instanceof UamError) {
    return { refusal: error, what: error.cause instanceof Error ? error.cause.message : error.reason };
  }
  if (error instanceof oidc.AuthorizationResponseError) return ofAuthorization(error.error);
  if (error instanceof oidc.ResponseBodyError) return ofToken(error);
  if (error instanceof oidc.ClientError && INVALID.has(error.code ?? "")) return said(invalid(error.code ?? ""));
  // Keys that cannot be had are no fault of the token's.
  const isAway = error instanceof jose.JWKSTimeout || error instanceof jose.JWKSInvalid;
  if (error instanceof jose.JOSEError && !isAway && error.code !== "ERR_JOSE_GENERIC") return said(invalid(error.code));
  return said(unavailable("it could not be asked, or its answer could not be read", error));
}

function ofAuthorization(code: string): Failed {
  // RFC 6749, section 4.1.2.1, and OpenID Connect Core 1.0, section 3.1.2.6: somebody said no.
  if (!["access_denied", "interaction_required", "login_required", "consent_required"].includes(code)) {
    return said(unavailable(`it answered ${named(code)}`));
  }
  const sentence = "The provider did not let you in, or you did not agree";
  return { refusal: new UamError("unauthorized", sentence, { reason: "sso.refused" }), what: code };
}

function ofToken(error: oidc.ResponseBodyError): Failed {
  if (error.error !== "invalid_grant") return said(unavailable(`it answered ${named(error.error)}`, error));
  const sentence = "The provider's code was used or is too old; begin again";
  return { refusal: new UamError("unauthorized", sentence, { reason: "sso.expired" }), what: "invalid_grant" };
}

function said(refusal: UamError): Failed {
  return { refusal, what: refusal.cause instanceof Error ? refusal.cause.message : "" };
}

/** A code of OAuth's, or that it was none. */
function named(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? code : "an error without a name";
}
