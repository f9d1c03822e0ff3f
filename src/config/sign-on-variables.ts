/** The environment variables of single sign-on. */

import { issuer, nonEmpty, oneLine, roleRules, scopes } from "./values.ts";
import { secret, variable } from "./variable.ts";

/** They are set together, or not at all. */
export const SIGN_ON_VARIABLES = {
  oidcIssuer: variable(
    "UAM_OIDC_ISSUER",
    undefined,
    issuer,
    "OpenID Connect provider that administrators may log in with; unset: no single sign-on; see docs/single-sign-on.md",
  ),
  oidcClientId: variable("UAM_OIDC_CLIENT_ID", undefined, oneLine, "the service's client id at that provider"),
  oidcClientSecret: secret("UAM_OIDC_CLIENT_SECRET", nonEmpty, "the service's client secret at that provider"),
  oidcRoles: variable(
    "UAM_OIDC_ROLES",
    undefined,
    roleRules,
    "the role for each claim: CLAIM:VALUE=ROLE, separated by commas, as in groups:uam-owners=owner",
  ),
  oidcScope: variable("UAM_OIDC_SCOPE", "openid profile email", scopes, "the scopes that the provider is asked for"),
  oidcName: variable("UAM_OIDC_NAME", "single sign-on", oneLine, "the name of single sign-on on the login page"),
} as const;
